// SPDX-License-Identifier: BSD-2-Clause
#include "pi_lock.h"

#include "compiler.h"
#include "sched.h"

// Locks are mostly released in the reverse order, so the search ends at once.
static inline void disown(struct pi_lock *lock)
{
    struct pi_lock **at = &lock->owner->held;
    while (*at != lock)
        at = &(*at)->held;
    *at = lock->held;
}

void pi_lock_end(struct pi_lock *lock)
{
    if (lock->owner != NULL)
        disown(lock);
}

static uint64_t due_level(const struct thread *t)
{
    uint64_t level = t->base_level;
    for (const struct pi_lock *lock = t->held; lock != NULL; lock = lock->held)
        if (!list_empty(&lock->waiters) && thread_first(&lock->waiters)->level > level)
            level = thread_first(&lock->waiters)->level;
    return level;
}

// In a deadlock, a ring of threads that wait for each other, all reach the same level, so the walk
// ends.
void pi_lock_settle(struct thread *t)
{
    uint64_t level;
    while ((level = due_level(t)) != t->level) {
        thread_set_level(t, level);
        if (t->awaited == NULL)
            return;
        t = t->awaited->owner;
    }
}

static void raise(struct thread *t, uint64_t level)
{
    while (t->level < level) {
        thread_set_level(t, level);
        if (t->awaited == NULL)
            return;
        t = t->awaited->owner;
    }
}

int64_t pi_lock_await(struct pi_lock *lock, uint64_t timeout_ticks, uint64_t irq)
{
    if (timeout_ticks != 0) {
        if (lock->owner->level < current->level)
            smp_alone();
        if (CONFIG_FINE && lock->owner == NULL) { // given up meanwhile
            pi_lock_own(lock, current);
            interrupts_restore(irq);
            return 0;
        }
        current->awaited = lock;
        raise(lock->owner, current->level);
    }
    return thread_await(&lock->waiters, timeout_ticks, irq);
}

void pi_lock_requeue(struct pi_lock *lock, struct thread *t)
{
    t->awaited = lock;
    thread_requeue(t, &lock->waiters);
    raise(lock->owner, t->level);
}

static inline int is_raised(const struct thread *t)
{
    return t->level != t->base_level;
}

// A thread that is not raised stays so, and another lock's waiters matter only to one that is.
struct thread *pi_lock_release(struct pi_lock *lock)
{
    struct thread *self = lock->owner;
    if (is_raised(self) && (self->held != lock || lock->held != NULL))
        smp_alone();
    disown(lock);
    if (list_empty(&lock->waiters)) {
        lock->owner = NULL;
        return NULL;
    }
    struct thread *next = thread_first(&lock->waiters);
    next->awaited = NULL;
    pi_lock_own(lock, next);
    if (!CONFIG_FINE || is_raised(self))
        pi_lock_settle(self);
    return next;
}

void pi_lock_withdraw(struct thread *t)
{
    struct thread *owner = t->awaited->owner;
    t->awaited = NULL;
    pi_lock_settle(owner);
}

void pi_lock_abandon(struct thread *t)
{
    while (t->held != NULL) {
        struct thread *next = pi_lock_release(t->held);
        if (next != NULL)
            thread_wake(next, 0);
    }
}
