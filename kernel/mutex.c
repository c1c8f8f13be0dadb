// SPDX-License-Identifier: BSD-2-Clause
#include "mutex.h"

#include "counters.h"
#include "events.h"
#include "riscv.h"
#include "thread.h"

void mutex_init(struct mutex *m, uint64_t unused_a, uint64_t unused_b)
{
    (void)unused_a;
    (void)unused_b;
    list_init(&m->waiters);
}

static inline void own(struct mutex *m, struct thread *t)
{
    m->owner = t;
    m->depth = 1;
    m->held = t->held;
    t->held = m;
}

// Mostly the latest is given back first.
static inline void disown(struct mutex *m)
{
    struct mutex **at = &m->owner->held;
    while (*at != m)
        at = &(*at)->held;
    *at = m->held;
}

void mutex_end(struct mutex *m)
{
    if (m->owner != NULL)
        disown(m);
}

static uint64_t due_level(const struct thread *t)
{
    uint64_t level = t->base_level;
    for (const struct mutex *m = t->held; m != NULL; m = m->held)
        if (!list_empty(&m->waiters) && thread_first(&m->waiters)->level > level)
            level = thread_first(&m->waiters)->level;
    return level;
}

// Where threads wait for each other in a ring, all come to the same level, and the walk ends.
void mutex_settle(struct thread *t)
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

static int64_t wait_for_owner(struct mutex *m, uint64_t timeout_ticks)
{
    if (timeout_ticks == 0)
        return refuse(ERROR_BUSY);
    current->awaited = m;
    raise(m->owner, current->level);
    return thread_block(&m->waiters, timeout_ticks);
}

int64_t mutex_acquire(struct mutex *m, uint64_t timeout_ticks)
{
    if (m->owner == NULL)
        own(m, current);
    else if (m->owner == current)
        m->depth++;
    else
        return wait_for_owner(m, timeout_ticks);
    return 0;
}

struct thread *mutex_release(struct mutex *m)
{
    struct thread *self = m->owner;
    disown(m);
    if (list_empty(&m->waiters)) {
        m->owner = NULL;
        return NULL;
    }
    struct thread *next = thread_first(&m->waiters);
    next->awaited = NULL;
    own(m, next);
    mutex_settle(self);
    return next;
}

void mutex_pass(struct mutex *m, struct thread *t)
{
    if (m->owner == NULL) {
        own(m, t);
        thread_wake(t, 0);
        return;
    }
    t->awaited = m;
    thread_requeue(t, &m->waiters);
    raise(m->owner, t->level);
}

void mutex_withdraw(struct thread *t)
{
    struct thread *owner = t->awaited->owner;
    t->awaited = NULL;
    mutex_settle(owner);
}

void mutex_abandon(struct thread *t)
{
    while (t->held != NULL) {
        struct thread *next = mutex_release(t->held);
        if (next != NULL)
            thread_wake(next, 0);
    }
}

int64_t mutex_lock(struct mutex *m, uint64_t timeout_ticks)
{
    uint64_t irq = interrupts_off();
    event_call("mutex_lock");
    int64_t result = mutex_acquire(m, timeout_ticks);
    interrupts_restore(irq);
    return result;
}

// The next owner may be suspended: then it is the lower level of this thread that lets others run.
static inline void unlock_last(struct mutex *m)
{
    struct thread *next = mutex_release(m);
    if (next == NULL)
        return;
    thread_wake(next, 0);
    preemption_check();
}

int64_t mutex_unlock(struct mutex *m)
{
    uint64_t irq = interrupts_off();
    int64_t result = 0;
    event_call("mutex_unlock");
    if (m->owner != current)
        result = refuse(ERROR_DENIED);
    else if (--m->depth == 0)
        unlock_last(m);
    interrupts_restore(irq);
    return result;
}
