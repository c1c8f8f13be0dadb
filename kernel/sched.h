// SPDX-License-Identifier: BSD-2-Clause
//
// The scheduler: fixed priorities, first come first served among equals. A thread that becomes
// ready and is more urgent than the running one runs at once, unless that one is cooperative.
// Interrupts must be off in every function here.
#ifndef SCHED_H
#define SCHED_H

#include "counters.h"
#include "eventlog.h"
#include "hart.h"
#include "smp.h"
#include "space.h"
#include "thread.h"

// Waiting.

// The most urgent of the waiters, which must not be empty.
static inline struct thread *thread_first(const struct link *waiters)
{
    return CONTAINER(waiters->next, struct thread, link);
}
// Puts a thread that is not ready among the waiters: by priority, first come first served among
// equals.
void thread_enqueue(struct link *waiters, struct thread *t);
// Blocks the running thread among `waiters`. Returns what thread_wake() was given, or
// ERROR_TIMEOUT.
int64_t thread_block(struct link *waiters, uint64_t timeout_ticks);
// Takes the running thread off the processor in the given state; returns what its waker says.
int64_t thread_leave(uint64_t state);
// Sets a bit of the state of a thread other than the running one, and so takes it out of the ready
// queue.
void thread_halt(struct thread *t, uint64_t bit);
// Moves a blocked thread to other waiters, and drops its timeout.
void thread_requeue(struct thread *t, struct link *waiters);
// Ends the wait of a blocked thread.
void thread_wake(struct thread *t, int64_t result);
// The same without a switch, for a caller that is about to block itself.
void thread_wake_later(struct thread *t, int64_t result);
// For timeout.c: the time that `t` waited for has come.
void thread_time_out(struct thread *t);
// For sched_context.c: the running thread does not run for `ticks`.
void thread_deplete(uint64_t ticks);

// The two ends of an operation that is not done at once. Both restore the interrupt state `irq`,
// and are called last, so that the common case of the operation saves no register.
// Waits among `waiters`; ERROR_BUSY if the timeout is 0.
int64_t thread_await(struct link *waiters, uint64_t timeout_ticks, uint64_t irq);
// Gives the first of the waiters its result; returns 0.
int64_t thread_deliver(struct link *waiters, int64_t result, uint64_t irq);

// Priorities.

// Moves a thread to a level, in whatever queue it is. base_level stays.
void thread_set_level(struct thread *t, uint64_t level);
// Nothing preempts the running thread between hold and release; wakes take effect at the release.
// They nest.
static inline uint64_t preemption_hold(void)
{
    uint64_t was = current->threshold;
    current->threshold = LEVEL_HELD;
    return was;
}
void preemption_release(uint64_t was);
// Lets a more urgent ready thread run, after the running thread's level fell.
void preemption_check(void);

// Three layers of bitmap give the highest level with a ready thread in constant time: bit l%8 of
// ready_levels[l/8], bit l/8%8 of ready_groups[l/64], bit l/64 of ready_top.
extern const uint8_t highest_bit[256]; // index of the highest bit set in a byte

static inline uint64_t highest_level(void)
{
    uint64_t group = highest_bit[HERE(ready_top)];
    uint64_t octet = group * 8 + highest_bit[HERE(ready_groups)[group]];
    return octet * 8 + highest_bit[HERE(ready_levels)[octet]];
}

// Switching. All are last calls, so that a switch needs no stack frame.

// trap.S. Returns in `to`, where that last called it, with its `result`.
int64_t context_switch(struct thread *from, struct thread *to);
// The same if `to` runs in another address space than the loaded one.
int64_t switch_space(struct thread *from, struct thread *to);
// objects/user_scheduler.c, with accounting=on: charges the running thread's time, and switches.
int64_t switch_accounted(struct thread *next);

static inline int64_t switch_unaccounted(struct thread *next)
{
    struct thread *self = current;
#if CONFIG_OBJCORE
    usage_switch(&self->usage, &next->usage);
#endif
#if CONFIG_MCS
    if (next->sched_context != sched_context_charged)
        sched_context_switch(next);
#endif
    smp_runs(next);
    smp_let_go();
    if (next->space == HERE(space_loaded) || next->space == NULL)
        return context_switch(self, next);
    return switch_space(self, next);
}

static inline int64_t switch_uncounted(struct thread *next)
{
    eventlog_kernel("switch to", next);
#if CONFIG_ACCOUNTING && CONFIG_USERSPACE
    if (current->accounted | next->accounted)
        return switch_accounted(next);
#endif
    return switch_unaccounted(next);
}

// Runs `next`, which is in no queue, in place of the running thread, which is already in its queue.
// Returns what that one's waker says, when it runs again.
static inline int64_t switch_to(struct thread *next)
{
    COUNT(switches);
    return switch_uncounted(next);
}

// The running thread takes the given state, and `next`, which waits for nothing else, runs. Returns
// 0 when the running thread runs again.
static inline int64_t switch_and_wait(struct thread *next, uint64_t state)
{
    current->result = 0;
    current->state = state;
    next->state = 0;
    return switch_to(next);
}

// The same on a fast path, which counts it as one: `next` must be allowed by may_run_next().
// Returns what the running thread's waker says.
static inline int64_t hand_over(struct thread *next, uint64_t state)
{
    current->state = state;
    next->state = 0;
    COUNT(fastpaths);
    return switch_uncounted(next);
}

// Whether a thread that is not ready may be the next to run: nobody ready is more urgent.
static inline int may_run_next(const struct thread *t)
{
    if (!is_here(t))
        return 0;
    return t->level >= current->threshold || t->level >= highest_level();
}

#endif
