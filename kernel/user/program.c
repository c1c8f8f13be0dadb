// SPDX-License-Identifier: BSD-2-Clause
//
// The user program that takes part in circles.
#include "circle.h"
#include "../counters.h"

const char *const counter_names[COUNTERS_END + 1] = {
#define COUNTER(name) #name,
    COUNTERS(COUNTER)
#undef COUNTER
};

void program_main(uint64_t role)
{
    struct stage *stage = (struct stage *)USER_STAGE;
    if (role == 0)
        client_main(stage);
    else
        peer_main(stage);
}

_Noreturn void program_exit(void)
{
    for (;;)
        thread_exit();
}
