// SPDX-License-Identifier: BSD-2-Clause
#include "semaphore.h"

#include "events.h"
#include "riscv.h"
#include "thread.h"

void semaphore_init(struct semaphore *s, uint64_t initial, uint64_t limit)
{
    list_init(&s->waiters);
    s->count = initial;
    s->limit = limit;
}

int64_t semaphore_give(struct semaphore *s)
{
    uint64_t irq = interrupts_off();
    event_call("semaphore_give");
    if (!list_empty(&s->waiters))
        thread_wake(thread_first(&s->waiters), 0);
    else if (s->count < s->limit)
        s->count++;
    interrupts_restore(irq);
    return 0;
}

int64_t semaphore_take(struct semaphore *s, uint64_t timeout_ticks)
{
    uint64_t irq = interrupts_off();
    int64_t result = 0;
    event_call("semaphore_take");
    if (s->count > 0)
        s->count--;
    else
        result = timeout_ticks == 0 ? ERROR_BUSY : thread_block(&s->waiters, timeout_ticks);
    interrupts_restore(irq);
    return result;
}
