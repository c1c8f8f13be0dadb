// SPDX-License-Identifier: BSD-2-Clause
#include "condvar.h"

#include "counters.h"
#include "events.h"
#include "mutex.h"
#include "riscv.h"
#include "thread.h"

void condvar_init(struct condvar *c, uint64_t unused_a, uint64_t unused_b)
{
    (void)unused_a;
    (void)unused_b;
    list_init(&c->waiters);
}

// Whoever gets the mutex must not run before the caller stands among the waiters: it could signal in between.
static inline int64_t wait_without(struct condvar *c, struct mutex *m, uint64_t timeout_ticks)
{
    struct thread *next = mutex_release(m);
    if (next != NULL)
        thread_wake_later(next, 0);
    current->wait[0] = (uint64_t)m;
    int64_t result = thread_block(&c->waiters, timeout_ticks);
    if (result == ERROR_TIMEOUT)
        mutex_acquire(m, FOREVER);
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
        result = wait_without(c, m, timeout_ticks);
    interrupts_restore(irq);
    return result;
}

static inline void signal_first(struct condvar *c)
{
    struct thread *t = thread_first(&c->waiters);
    mutex_pass((struct mutex *)t->wait[0], t);
}

int64_t condvar_signal(struct condvar *c)
{
    uint64_t irq = interrupts_off();
    event_call("condvar_signal");
    if (!list_empty(&c->waiters))
        signal_first(c);
    interrupts_restore(irq);
    return 0;
}

int64_t condvar_broadcast(struct condvar *c)
{
    uint64_t irq = interrupts_off();
    event_call("condvar_broadcast");
    uint64_t held = preemption_hold();
    while (!list_empty(&c->waiters))
        signal_first(c);
    preemption_release(held);
    interrupts_restore(irq);
    return 0;
}
