// SPDX-License-Identifier: BSD-2-Clause
#include "notification.h"

#include "endpoint.h"
#include "eventlog.h"
#include "handle.h"
#include "riscv.h"
#include "sched.h"

void notification_init(struct notification *n, uint64_t a, uint64_t b)
{
    (void)a;
    (void)b;
    list_init(&n->waiters);
    n->signal = 0;
    n->endpoint = NULL;
}

void notification_bind(struct notification *n, struct endpoint *e)
{
    n->endpoint = e;
    e->notification = n;
}

// One that is bound has the endpoint's lock.
static inline struct object *lock_of(struct notification *n)
{
    return CONFIG_FINE && n->endpoint != NULL ? &n->endpoint->object : &n->object;
}

// Badges are below 2^63, so that no signal looks like an error.
static inline int64_t signal_badge(struct notification *n, uint64_t badge)
{
    eventlog_call("notification_signal");
    smp_hold(&lock_of(n)->lock);
    if (!list_empty(&n->waiters))
        thread_wake(thread_first(&n->waiters), (int64_t)badge);
    else if (n->endpoint == NULL || !endpoint_signal(n->endpoint, badge))
        n->signal |= badge;
    return 0;
}

static int64_t take_signal(struct notification *n)
{
    int64_t signal = (int64_t)n->signal;
    n->signal = 0;
    return signal;
}

int64_t notification_signal(struct notification *n)
{
    uint64_t irq = interrupts_off();
    signal_badge(n, KERNEL_BADGE);
    interrupts_restore(irq);
    return 0;
}

int64_t notification_wait(struct notification *n)
{
    uint64_t irq = object_enter(lock_of(n));
    eventlog_call("notification_wait");
    int64_t signal = n->signal != 0 ? take_signal(n) : thread_block(&n->waiters, FOREVER);
    interrupts_restore(irq);
    return signal;
}

int64_t notification_poll(struct notification *n)
{
    uint64_t irq = object_enter(lock_of(n));
    eventlog_call("notification_poll");
    int64_t signal = take_signal(n);
    interrupts_restore(irq);
    return signal;
}

#if CONFIG_USERSPACE
int64_t sys_notification_signal(uint64_t handle)
{
    struct handle *named = handle_entry(handle, OBJECT_notification);
    if (named == NULL)
        return refuse(ERROR_HANDLE);
    return signal_badge((struct notification *)named->object, named->badge);
}
#endif
