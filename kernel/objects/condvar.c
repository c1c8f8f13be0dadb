// SPDX-License-Identifier: BSD-2-Clause
#include "condvar.h"

#include "compiler.h"
#include "counters.h"
#include "eventlog.h"
#include "mutex.h"
#include "riscv.h"
#include "sched.h"

void condvar_init(struct condvar *c, uint64_t unused_a, uint64_t unused_b)
{
    (void)unused_a;
    (void)unused_b;
    list_init(&c->waiters);
}

// Called last, with interrupts off and the mutex held. The next owner of the mutex must not run
// before the caller is among the waiters: its signal would be lost.
static NOINLINE int64_t wait_without(struct condvar *c, struct mutex *m, uint64_t timeout_ticks,
                                     uint64_t irq)
{
    struct thread *next = pi_lock_release(&m->lock);
    if (next != NULL)
        thread_wake_later(next, 0);
    current->wait.condvar.lock = &m->lock;
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
    eventlog_call("condvar_wait");
    smp_alone();
    if (m->lock.owner != current || m->lock.depth != 1)
        result = refuse(ERROR_DENIED);
    else if (timeout_ticks == 0)
        result = refuse(ERROR_BUSY);
    else
        return wait_without(c, m, timeout_ticks, irq);
    interrupts_restore(irq);
    return result;
}

// Gives the first waiter its mutex, or moves it to the mutex's waiters. Returns whether it is to be
// woken.
static inline int grant_first(struct condvar *c)
{
    struct thread *t = thread_first(&c->waiters);
    struct pi_lock *lock = t->wait.condvar.lock;
    if (lock->owner != NULL) {
        pi_lock_requeue(lock, t);
        return 0;
    }
    pi_lock_own(lock, t);
    return 1;
}

// Called last.
static NOINLINE int64_t signal_first(struct condvar *c, uint64_t irq)
{
    if (grant_first(c))
        return thread_deliver(&c->waiters, 0, irq);
    interrupts_restore(irq);
    return 0;
}

int64_t condvar_signal(struct condvar *c)
{
    uint64_t irq = interrupts_off();
    eventlog_call("condvar_signal");
    if (CONFIG_FINE && !list_empty(&c->waiters))
        smp_alone();
    if (!list_empty(&c->waiters))
        return signal_first(c, irq);
    interrupts_restore(irq);
    return 0;
}

// The most urgent waiter gets its mutex first; the others move to the mutex's waiters.
int64_t condvar_broadcast(struct condvar *c)
{
    uint64_t irq = interrupts_off();
    eventlog_call("condvar_broadcast");
    if (CONFIG_FINE && !list_empty(&c->waiters))
        smp_alone();
    uint64_t held = preemption_hold();
    while (!list_empty(&c->waiters))
        if (grant_first(c))
            thread_wake(thread_first(&c->waiters), 0);
    preemption_release(held);
    interrupts_restore(irq);
    return 0;
}
