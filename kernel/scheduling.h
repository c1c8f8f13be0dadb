// SPDX-License-Identifier: BSD-2-Clause
//
// Scheduling contexts (mcs=on): the right to the processor, as seL4 MCS has it. A context has a budget of time that
// comes back a period after its use (a sporadic server); budget = period means round robin. Each thread owns one. A
// passive server has given its own up and runs on that of its caller, who gets it back with the reply.
// Time is read and charged only where a switch changes the context, so a call to a passive server reads no time.
#ifndef SCHEDULING_H
#define SCHEDULING_H

#include <stdint.h>

#include "config.h"

#if CONFIG_MCS
#define REFILLS_MAX 8
// What a thread has unless told otherwise: round robin with a slice so long that none ends inside a measurement.
#define SLICE_DEFAULT_TICKS (1ul << 34)

struct refill {
    uint64_t at_ticks; // may be used from then on
    uint64_t amount_ticks;
};

struct scheduling_context {
    uint64_t budget_ticks, period_ticks;
    uint64_t consumed_ticks; // in all
    uint64_t head, count;    // of the ring of refills, ordered by time; the first is the one in use
    struct refill refills[REFILLS_MAX];
};

struct thread;

extern struct scheduling_context *scheduling_charged; // the context that the processor runs on

// Full budget from now on.
void scheduling_init(struct scheduling_context *c, uint64_t budget_ticks, uint64_t period_ticks, uint64_t now_ticks);
// The same for a context that may be in use.
void scheduling_set_budget(struct scheduling_context *c, uint64_t budget_ticks, uint64_t period_ticks);
// The processor goes over to the context of `next`: charges the one before and makes sure of a timer interrupt at
// the end of what is left.
void scheduling_switch(const struct thread *next);
// The timer interrupt: charges the running thread; where its budget is used up it waits for the next refill, or in
// round robin goes behind its equals.
void scheduling_expire(void);
#endif

#endif
