// SPDX-License-Identifier: BSD-2-Clause
#include "semaphore.h"

#include "eventlog.h"
#include "riscv.h"
#include "sched.h"

void semaphore_init(struct semaphore *s, uint64_t initial, uint64_t limit)
{
    list_init(&s->waiters);
    s->count = initial;
    s->limit = limit;
}

int64_t semaphore_give(struct semaphore *s)
{
    uint64_t irq = object_enter(&s->object);
    eventlog_call("semaphore_give");
    if (!list_empty(&s->waiters))
        return thread_deliver(&s->waiters, 0, irq);
    if (s->count < s->limit)
        s->count++;
    interrupts_restore(irq);
    return 0;
}

int64_t semaphore_take(struct semaphore *s, uint64_t timeout_ticks)
{
    uint64_t irq = object_enter(&s->object);
    eventlog_call("semaphore_take");
    if (s->count == 0)
        return thread_await(&s->waiters, timeout_ticks, irq);
    s->count--;
    interrupts_restore(irq);
    return 0;
}
