// SPDX-License-Identifier: BSD-2-Clause
#include "stack.h"

#include "counters.h"
#include "eventlog.h"
#include "page_alloc.h"
#include "riscv.h"
#include "sched.h"

void stack_init(struct stack *s, uint64_t capacity, uint64_t unused)
{
    (void)unused;
    list_init(&s->waiters);
    s->bottom = page_alloc();
    s->top = s->bottom;
    s->limit = s->bottom;
    if (s->bottom != NULL)
        s->limit += capacity < STACK_CAPACITY_MAX ? capacity : STACK_CAPACITY_MAX;
}

void stack_end(struct stack *s)
{
    if (s->bottom != NULL)
        page_free(s->bottom);
}

int64_t stack_push(struct stack *s, uint64_t value)
{
    uint64_t irq = object_enter(&s->object);
    int64_t result = 0;
    eventlog_call("stack_push");
    if ((int64_t)value < 0)
        result = refuse(ERROR_ARGUMENT);
    else if (!list_empty(&s->waiters))
        return thread_deliver(&s->waiters, (int64_t)value, irq);
    else if (s->top == s->limit)
        result = refuse(ERROR_MEMORY);
    else
        *s->top++ = (int64_t)value;
    interrupts_restore(irq);
    return result;
}

int64_t stack_pop(struct stack *s, uint64_t timeout_ticks)
{
    uint64_t irq = object_enter(&s->object);
    eventlog_call("stack_pop");
    if (s->top == s->bottom)
        return thread_await(&s->waiters, timeout_ticks, irq);
    int64_t value = *--s->top;
    interrupts_restore(irq);
    return value;
}
