// SPDX-License-Identifier: BSD-2-Clause
#include "mutex.h"

#include "compiler.h"
#include "counters.h"
#include "eventlog.h"
#include "riscv.h"
#include "sched.h"

void mutex_init(struct mutex *m, uint64_t unused_a, uint64_t unused_b)
{
    (void)unused_a;
    (void)unused_b;
    list_init(&m->lock.waiters);
}

void mutex_end(struct mutex *m)
{
    pi_lock_end(&m->lock);
}

int64_t mutex_lock(struct mutex *m, uint64_t timeout_ticks)
{
    uint64_t irq = object_enter(&m->lock.object);
    eventlog_call("mutex_lock");
    if (m->lock.owner == NULL)
        pi_lock_own(&m->lock, current);
    else if (m->lock.owner == current)
        m->lock.depth++;
    else
        return pi_lock_await(&m->lock, timeout_ticks, irq);
    interrupts_restore(irq);
    return 0;
}

// Called last. If the next owner is suspended, the lower level of this thread may still let others
// run.
static NOINLINE int64_t unlock_last(struct mutex *m, uint64_t irq)
{
    struct thread *next = pi_lock_release(&m->lock);
    if (next != NULL) {
        thread_wake(next, 0);
        preemption_check();
    }
    interrupts_restore(irq);
    return 0;
}

int64_t mutex_unlock(struct mutex *m)
{
    uint64_t irq = object_enter(&m->lock.object);
    int64_t result = 0;
    eventlog_call("mutex_unlock");
    if (m->lock.owner != current)
        result = refuse(ERROR_DENIED);
    else if (--m->lock.depth == 0)
        return unlock_last(m, irq);
    interrupts_restore(irq);
    return result;
}
