// SPDX-License-Identifier: BSD-2-Clause
//
// Scheduling contexts (mcs=on): the right to run, as in seL4 MCS. A context has a budget of time,
// and what is used of it comes back a period after its use (a sporadic server); if budget and
// period are equal, it is round robin. Each thread owns a context. A passive server has given up
// its own and runs on its caller's, which returns with the reply. Time is read and charged only if
// a switch changes the context, so a call to a passive server reads no time.
#ifndef SCHED_CONTEXT_H
#define SCHED_CONTEXT_H

#include <stdint.h>

#include "config.h"

#if CONFIG_MCS
#define REFILLS_MAX 8
// The default: round robin, with a slice so long that none ends inside a measurement.
#define SLICE_DEFAULT_TICKS (1ul << 34)

struct refill {
    uint64_t at_ticks; // the earliest time of its use
    uint64_t amount_ticks;
};

struct sched_context {
    uint64_t budget_ticks, period_ticks;
    uint64_t consumed_ticks; // in all
    uint64_t head, count;    // of the ring of refills, by time; the first is in use
    struct refill refills[REFILLS_MAX];
};

struct thread;

extern struct sched_context *sched_context_charged; // the context that the processor runs on

// Starts the context with its full budget.
void sched_context_init(struct sched_context *c, uint64_t budget_ticks, uint64_t period_ticks,
                        uint64_t now_ticks);
// The same for a context that may be in use.
void sched_context_set_budget(struct sched_context *c, uint64_t budget_ticks,
                              uint64_t period_ticks);
// Changes to the context of `next`: charges the old one, and makes sure that the timer interrupts
// when the budget ends.
void sched_context_switch(const struct thread *next);
// On the timer interrupt: charges the running thread. If its budget is used up, it waits for the
// next refill, or yields to its equals if it is round robin.
void sched_context_expire(void);
#endif

#endif
