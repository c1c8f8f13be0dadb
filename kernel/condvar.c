// SPDX-License-Identifier: BSD-2-Clause
#include "condvar.h"

#include "counters.h"
#include "events.h"
#include "hot.h"
#include "mutex.h"
#include "riscv.h"
#include "thread.h"

void condvar_init(struct condvar *c, uint64_t unused_a, uint64_t unused_b)
{
    (void)unused_a;
    (void)unused_b;
    list_init(&c->waiters);
}

// Called last, with interrupts off and the mutex held. Whoever gets the mutex must not run before the caller stands
// among the waiters: it could signal in between.
static APART int64_t wait_without(struct condvar *c, struct mutex *m, uint64_t timeout_ticks, uint64_t irq)
{
    struct thread *next = mutex_release(m);
    if (next != NULL)
        thread_wake_later(next, 0);
    current->wait[0] = (uint64_t)m;
    int64_t result = thread_block(&c->waiters, timeout_ticks);
    interrupts_restore(irq);
    if (result == ERROR_TIMEOUT)
        mutex_lock(m, FOREVER);
    return result;
}

int64_t condvar_wait(struct condvar *c, struct mutex *m, uint64_t timeout_ticks)
{
    uint64_t irq = interrupts_off();
    int64_t result;
    event_call("condvar_wait");
    if (m->owner != current || m->depth != 1)
        result = refuse(ERROR_DENIED);
    else if (timeout_ticks == 0)
        result = refuse(ERROR_BUSY);
    else
        return wait_without(c, m, timeout_ticks, irq);
    interrupts_restore(irq);
    return result;
}

// Gives the first waiter its mutex, or moves it to those who wait for that. Returns whether it is to be woken.
static inline int grant_first(struct condvar *c)
{
    struct thread *t = thread_first(&c->waiters);
    struct mutex *m = (struct mutex *)t->wait[0];
    if (m->owner != NULL) {
        mutex_queue(m, t);
        return 0;
    }
    mutex_own(m, t);
    return 1;
}

// Called last.
static APART int64_t signal_first(struct condvar *c, uint64_t irq)
{
    if (grant_first(c))
        return thread_deliver(&c->waiters, 0, irq);
    interrupts_restore(irq);
    return 0;
}

int64_t condvar_signal(struct condvar *c)
{
    uint64_t irq = interrupts_off();
    event_call("condvar_signal");
    if (!list_empty(&c->waiters))
        return signal_first(c, irq);
    interrupts_restore(irq);
    return 0;
}

// Who gets its mutex first is the most urgent; the others move to its waiters.
int64_t condvar_broadcast(struct condvar *c)
{
    uint64_t irq = interrupts_off();
    event_call("condvar_broadcast");
    uint64_t held = preemption_hold();
    while (!list_empty(&c->waiters))
        if (grant_first(c))
            thread_wake(thread_first(&c->waiters), 0);
    preemption_release(held);
    interrupts_restore(irq);
    return 0;
}
