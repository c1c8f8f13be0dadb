// SPDX-License-Identifier: BSD-2-Clause
//
// One counter per outcome, incremented where it happens; a contract states how many each turn has.
// They are read outside the timed interval. One hart is in the kernel at a time, or each has
// counters of its own (smp=fine), so increments are plain.
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdint.h>

#include "config.h"
#include "error.h"

#if CONFIG_SMP
#define COUNTERS_OF_SMP(COUNTER)                                           \
    COUNTER(ipis)       /* software interrupts asked for on other harts */ \
    COUNTER(shootdowns) /* of the translations of all harts */
#else
#define COUNTERS_OF_SMP(COUNTER)
#endif

// A new outcome is one line here; its name is the name in the records. At most 48.
// `entries` must stay first: trap.S counts it.
#define COUNTERS(COUNTER)                                                                          \
    COUNTER(entries)        /* system calls and faults of user programs */                         \
    COUNTER(switches)       /* from one thread to another */                                       \
    COUNTER(space_switches) /* satp loads */                                                       \
    COUNTER(interrupts)                                                                            \
    COUNTER(wakeups)      /* waiting threads made ready, or run at once */                         \
    COUNTER(refused)      /* calls that returned an error instead of doing what they were asked */ \
    COUNTER(time_reads)   /* of mtime or by rdtime, by the kernel */                               \
    COUNTER(timer_sets)   /* monitor calls that program the timer */                               \
    COUNTER(table_writes) /* page-table entries */                                                 \
    COUNTER(                                                                                       \
        fastpaths) /* hand-overs to a waiter; each is also reported as a switch and a wakeup */    \
    COUNTER(slowpaths)                                                                             \
    COUNTER(invocations)           /* of components */                                             \
    COUNTER(upcalls)               /* asked for by programs */                                     \
    COUNTER(switch_self)           /* by user-level schedulers: to the caller itself */            \
    COUNTER(switch_coop)           /* to a thread that parked by its own call */                   \
    COUNTER(switch_preempt)        /* to a thread parked by an interrupt */                        \
    COUNTER(brand_uc)              /* raised, and its upcall run at once */                        \
    COUNTER(brand_delayed)         /* raised, its upcall left to the scheduler */                  \
    COUNTER(brand_pend)            /* raised while its upcall runs */                              \
    COUNTER(brand_pend_execute)    /* pending upcall run */                                        \
    COUNTER(brand_completion_uc)   /* upcall done, an upcall tells its scheduler */                \
    COUNTER(brand_sched_preempted) /* upcall done, the interrupted thread run on */                \
    COUNTER(finished_brands)       /* upcall done with nothing pending */                          \
    COUNTER(atomic_rbk)            /* restartable sections restarted */                            \
    COUNTER(atomic_stale_lock)     /* waits for a lock that is free by now */                      \
    COUNTER(atomic_lock)           /* waits for a lock */                                          \
    COUNTER(atomic_unlock)         /* locks passed to a waiter */                                  \
    COUNTERS_OF_SMP(COUNTER)

enum counter {
#define COUNTER(name) COUNT_##name,
    COUNTERS(COUNTER)
#undef COUNTER
        COUNTERS_END
};

extern const char *const counter_names[COUNTERS_END + 1]; // ends with NULL

// counter_read() is one counter of all harts.
#if CONFIG_FINE
#define COUNTER_HERE(name) current->hart->counters[COUNT_##name] // hart.h
uint64_t counter_read(enum counter counter);
#else
extern uint64_t counters[COUNTERS_END];
#define COUNTER_HERE(name) counters[COUNT_##name]
static inline uint64_t counter_read(enum counter counter)
{
    return counters[counter];
}
#endif
#define COUNT(name) ((void)COUNTER_HERE(name)++)

// Copies all counters. As a system call, it does not count itself as an entry.
int64_t counters_read(int64_t *counts);

#endif
