// SPDX-License-Identifier: BSD-2-Clause
//
// One counter an outcome, incremented where it happens; contracts state how many a turn has.
// The rig reads them outside the interval. One hart, so plain increments.
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdint.h>

#include "config.h"

// A new outcome is one line here; its name is the name in the records. At most 24.
// `entries` must stay first: trap.S counts it.
#define COUNTERS(COUNTER)                                                                                              \
    COUNTER(entries)        /* system calls and faults of user programs */                                             \
    COUNTER(switches)       /* from one thread to another */                                                           \
    COUNTER(space_switches) /* satp loads */                                                                           \
    COUNTER(interrupts)                                                                                                \
    COUNTER(wakeups)     /* waiting threads made ready, or run at once */                                              \
    COUNTER(time_reads)  /* of mtime or by rdtime, by the kernel */                                                    \
    COUNTER(timer_sets)  /* monitor calls that program the timer */                                                    \
    COUNTER(table_writes) /* page-table entries */                                                                     \
    COUNTER(fastpaths) /* hand-overs to a waiter; each is also reported as a switch and a wakeup */                    \
    COUNTER(slowpaths)

enum counter {
#define COUNTER(name) COUNT_##name,
    COUNTERS(COUNTER)
#undef COUNTER
        COUNTERS_END
};

extern uint64_t counters[COUNTERS_END];
extern const char *const counter_names[COUNTERS_END + 1]; // ends with NULL

#define count(name) ((void)counters[COUNT_##name]++)

// Copies all counters. A user program's call for it is not itself counted as an entry.
int64_t counters_read(int64_t *counts);

#endif
