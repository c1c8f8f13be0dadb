// SPDX-License-Identifier: BSD-2-Clause
//
// The inside of the scheduler, inline, for thread.c and for fast paths that end in a switch.
#ifndef SWITCH_H
#define SWITCH_H

#include "counters.h"
#include "events.h"
#include "space.h"
#include "thread.h"

// Three layers of bitmap tell in constant time the highest level at which a thread is ready: bit l%8 of
// ready_levels[l/8], bit l/8%8 of ready_groups[l/64], bit l/64 of ready_top.
extern uint8_t ready_top, ready_groups[8], ready_levels[64];
extern const uint8_t highest_bit[256]; // index of the highest bit set in a byte

static inline uint64_t highest_level(void)
{
    uint64_t group = highest_bit[ready_top];
    uint64_t octet = group * 8 + highest_bit[ready_groups[group]];
    return octet * 8 + highest_bit[ready_levels[octet]];
}

// trap.S. Returns in `to`, where that last called it, with its `result`.
int64_t context_switch(struct thread *from, struct thread *to);

// thread.c: the same where the space in satp is another.
int64_t switch_space(struct thread *from, struct thread *to);

// scheduler.c: charges the time since the last accounted switch to the running thread, and switches.
int64_t switch_accounted(struct thread *next);

// All are last calls, so that a switch needs no stack frame of its own.
static inline int64_t switch_unaccounted(struct thread *next)
{
    struct thread *self = current;
#if CONFIG_OBJCORE
    usage_switch(&self->usage, &next->usage);
#endif
#if CONFIG_MCS
    if (next->scheduling != scheduling_charged)
        scheduling_switch(next);
#endif
    if (next->space == space_loaded || next->space == NULL)
        return context_switch(self, next);
    return switch_space(self, next);
}

static inline int64_t switch_uncounted(struct thread *next)
{
    event_kernel("switch to", next);
#if CONFIG_ACCOUNTING && CONFIG_USERSPACE
    if (current->accounted | next->accounted)
        return switch_accounted(next);
#endif
    return switch_unaccounted(next);
}

// Runs `next`, which stands in no queue, in place of the running thread, which is already where it will be found.
// Returns when that runs again, with what its waker said.
static inline int64_t switch_to(struct thread *next)
{
    count(switches);
    return switch_uncounted(next);
}

// The same in the given state, to a thread that waited for nothing else than this; 0 when the running one runs again.
static inline int64_t give_way(struct thread *next, uint64_t state)
{
    current->result = 0;
    current->state = state;
    next->state = 0;
    return switch_to(next);
}

// Separates an upcall from the thread that it interrupted.
static inline void untie(struct thread *upcall)
{
    upcall->migration.interrupted->migration.interrupter = NULL;
    upcall->migration.interrupted = NULL;
}

// Whether a thread that is not ready may run next when the running one leaves: nobody ready is more urgent.
static inline int may_follow(const struct thread *t)
{
    return t->level >= current->threshold || t->level >= highest_level();
}

// Leaves the processor in the given state to `next`, which stands in no queue, waits for nothing else than this, and
// may follow.
static inline int64_t hand_over(struct thread *next, uint64_t state)
{
    current->state = state;
    next->state = 0;
    count(fastpaths);
    return switch_uncounted(next);
}

#endif
