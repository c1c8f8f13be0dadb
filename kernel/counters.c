// SPDX-License-Identifier: BSD-2-Clause
#include "counters.h"

#include <cyc/flow.h>

#include "compiler.h"
#include "hart.h"
#include "smp.h"

_Static_assert(COUNTERS_END < CYC_COUNTERS_MAX, "more outcomes than a sample has room for");
_Static_assert(COUNT_entries == 0, "trap.S counts entries as the first counter");

#if !CONFIG_FINE
uint64_t counters[COUNTERS_END] HOT_DATA;
#endif

const char *const counter_names[COUNTERS_END + 1] = {
#define COUNTER(name) #name,
    COUNTERS(COUNTER)
#undef COUNTER
};

#if CONFIG_FINE
uint64_t counter_read(enum counter counter)
{
    uint64_t sum = 0;
    for (int hart = 0; hart < HARTS_MAX; hart++)
        sum += harts[hart].counters[counter];
    return sum;
}

// Another hart may be in the middle of the call that ended the test: what it has yet to do there,
// as to switch to its idle thread, is counted before.
static void others_leave(void)
{
    uint64_t irq = interrupts_off();
    smp_alone();
    interrupts_restore(irq);
}
#else
#define others_leave() ((void)0)
#endif

int64_t counters_read(int64_t *counts)
{
    others_leave();
    for (int i = 0; i < COUNTERS_END; i++)
        counts[i] = (int64_t)counter_read((enum counter)i);
    // A fast path is a switch and a wakeup, but increments one counter only.
    counts[COUNT_switches] += counts[COUNT_fastpaths];
    counts[COUNT_wakeups] += counts[COUNT_fastpaths];
    return 0;
}
