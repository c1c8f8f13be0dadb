// SPDX-License-Identifier: BSD-2-Clause
#include "event_set.h"

#include "compiler.h"
#include "counters.h"
#include "eventlog.h"
#include "riscv.h"
#include "sched.h"

void event_set_init(struct event_set *e, uint64_t present, uint64_t unused)
{
    (void)unused;
    list_init(&e->waiters);
    e->present = present;
}

// The events of `named` that are in `present`, or 0 if they are not enough.
static inline uint64_t satisfied(uint64_t present, uint64_t named, uint64_t all)
{
    uint64_t seen = present & named;
    return all && seen != named ? 0 : seen;
}

static inline uint64_t satisfied_waiter(const struct event_set *e, const struct thread *t)
{
    return satisfied(e->present, t->wait.event_set.events, t->wait.event_set.all);
}

// Several waiters: all are compared with the same set before the first of them runs.
static NOINLINE int64_t wake_several(struct event_set *e, uint64_t irq)
{
    uint64_t held = preemption_hold();
    struct link *next;
    for (struct link *at = e->waiters.next; at != &e->waiters; at = next) {
        struct thread *t = CONTAINER(at, struct thread, link);
        uint64_t seen = satisfied_waiter(e, t);
        next = at->next;
        if (seen != 0)
            thread_wake(t, (int64_t)seen);
    }
    preemption_release(held);
    interrupts_restore(irq);
    return 0;
}

// Called last.
static NOINLINE int64_t wake_satisfied(struct event_set *e, uint64_t irq)
{
    const struct thread *first = thread_first(&e->waiters);
    if (first->link.next != &e->waiters)
        return wake_several(e, irq);
    uint64_t seen = satisfied_waiter(e, first);
    if (seen != 0)
        return thread_deliver(&e->waiters, (int64_t)seen, irq);
    interrupts_restore(irq);
    return 0;
}

static inline int64_t change(struct event_set *e, uint64_t present, uint64_t irq)
{
    int64_t result = 0;
    if (present > EVENTS_ALL) {
        result = refuse(ERROR_ARGUMENT);
    } else {
        e->present = present;
        if (!list_empty(&e->waiters))
            return wake_satisfied(e, irq);
    }
    interrupts_restore(irq);
    return result;
}

int64_t events_post(struct event_set *e, uint64_t events)
{
    uint64_t irq = object_enter(&e->object);
    eventlog_call("events_post");
    return change(e, e->present | events, irq);
}

int64_t events_set(struct event_set *e, uint64_t events)
{
    uint64_t irq = object_enter(&e->object);
    eventlog_call("events_set");
    return change(e, events, irq);
}

int64_t events_clear(struct event_set *e, uint64_t events)
{
    uint64_t irq = object_enter(&e->object);
    eventlog_call("events_clear");
    e->present &= ~events;
    interrupts_restore(irq);
    return 0;
}

static inline int64_t wait_for(struct event_set *e, uint64_t events, uint64_t all, uint64_t reset,
                               uint64_t timeout_ticks, uint64_t irq)
{
    int64_t result;
    if (reset)
        e->present = 0;
    if (events == 0 || events > EVENTS_ALL) {
        result = refuse(ERROR_ARGUMENT);
    } else if ((result = (int64_t)satisfied(e->present, events, all)) == 0) {
        current->wait.event_set.events = events;
        current->wait.event_set.all = all;
        return thread_await(&e->waiters, timeout_ticks, irq);
    }
    interrupts_restore(irq);
    return result;
}

int64_t events_wait(struct event_set *e, uint64_t events, uint64_t reset, uint64_t timeout_ticks)
{
    uint64_t irq = object_enter(&e->object);
    eventlog_call("events_wait");
    return wait_for(e, events, 0, reset, timeout_ticks, irq);
}

int64_t events_wait_all(struct event_set *e, uint64_t events, uint64_t reset,
                        uint64_t timeout_ticks)
{
    uint64_t irq = object_enter(&e->object);
    eventlog_call("events_wait_all");
    return wait_for(e, events, 1, reset, timeout_ticks, irq);
}
