// SPDX-License-Identifier: BSD-2-Clause
//
// The user program that takes part in circles.
#include "bench/kernel_circle.h"
#include "counters.h"

const char *const counter_names[COUNTERS_END + 1] = {
#define COUNTER(name) #name,
    COUNTERS(COUNTER)
#undef COUNTER
};

void program_main(uint64_t role)
{
    struct bench_shared *shared = (struct bench_shared *)USER_SHARED;
    if (role == 0)
        client_main(shared);
    else
        peer_main(shared);
}

_Noreturn void program_exit(void)
{
    for (;;)
        thread_exit();
}
