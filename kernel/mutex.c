// SPDX-License-Identifier: BSD-2-Clause
#include "mutex.h"

#include "counters.h"
#include "events.h"
#include "hot.h"
#include "riscv.h"
#include "thread.h"

void mutex_init(struct mutex *m, uint64_t unused_a, uint64_t unused_b)
{
    (void)unused_a;
    (void)unused_b;
    list_init(&m->waiters);
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

static APART int64_t wait_for_owner(struct mutex *m, uint64_t timeout_ticks, uint64_t irq)
{
    if (timeout_ticks != 0) {
        current->awaited = m;
        raise(m->owner, current->level);
    }
    return thread_await(&m->waiters, timeout_ticks, irq);
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
    mutex_own(m, next);
    mutex_settle(self);
    return next;
}

void mutex_queue(struct mutex *m, struct thread *t)
{
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
    if (m->owner == NULL)
        mutex_own(m, current);
    else if (m->owner == current)
        m->depth++;
    else
        return wait_for_owner(m, timeout_ticks, irq);
    interrupts_restore(irq);
    return 0;
}

// Called last. The next owner may be suspended: then it is the lower level of this thread that lets others run.
static APART int64_t unlock_last(struct mutex *m, uint64_t irq)
{
    struct thread *next = mutex_release(m);
    if (next != NULL) {
        thread_wake(next, 0);
        preemption_check();
    }
    interrupts_restore(irq);
    return 0;
}

int64_t mutex_unlock(struct mutex *m)
{
    uint64_t irq = interrupts_off();
    int64_t result = 0;
    event_call("mutex_unlock");
    if (m->owner != current)
        result = refuse(ERROR_DENIED);
    else if (--m->depth == 0)
        return unlock_last(m, irq);
    interrupts_restore(irq);
    return result;
}
