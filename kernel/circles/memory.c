// SPDX-License-Identifier: BSD-2-Clause
//
// Address spaces on two harts: what a change of a page table costs that the other one has to see.
#include "bench/kernel_circle.h"

#if CONFIG_SMP
#ifndef USER_PROGRAM
#include "smp.h"

static void shootdown_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        uint64_t irq = interrupts_off();
        smp_fence();
        interrupts_restore(irq);
    }
}
#endif

static void spin(struct bench_shared *shared)
{
    __atomic_store_n(&shared->scratch[0], 1, __ATOMIC_RELEASE);
    for (;;)
        ;
}

static void await_spin(struct bench_shared *shared)
{
    while (__atomic_load_n(&shared->scratch[0], __ATOMIC_ACQUIRE) == 0)
        ;
}

// The monitor serves it, so that no kernel counts an interrupt.
#define SHOOTDOWN(key_, title_)                                        \
    .contract = {.key = key_,                                          \
                 .title = title_,                                      \
                 .sequence = SEQUENCE(NULL),                           \
                 .interval = "round_trip",                             \
                 .from = "client: before the call of the monitor",     \
                 .to = "client: after all harts dropped translations", \
                 .expect = EXPECT({"shootdowns", 1}),                  \
                 .params = PARAMS({"placement", "other_cpu"}),         \
                 .correction = "none"},                                \
    .turns = IN_KERNEL(shootdown_turns), .client_priority = 10, .other_cpu = 1

const struct circle memory_circles[] = {
    {SHOOTDOWN("memory.shootdown.idle", "Shootdown of the translations of an idle hart"),
     .sides = KERNEL_ALONE, .naming = BY_NOTHING},
    {SHOOTDOWN("memory.shootdown.busy",
               "Shootdown of the translations of a hart that runs a program"),
     .sides = K_TO_U, .naming = BY_NOTHING, .peer_priority = 10, .prepare = await_spin,
     .peer = spin},
    END_OF_FAMILY,
};
#endif
