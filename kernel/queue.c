// SPDX-License-Identifier: BSD-2-Clause
#include "queue.h"

#include "counters.h"
#include "error.h"
#include "events.h"
#include "heap.h"
#include "riscv.h"
#include "thread.h"

#define CONTAINER_BIT 1ul

struct container {
    struct item item;
    int64_t value;
};

void queue_init(struct queue *q, uint64_t unused_a, uint64_t unused_b)
{
    (void)unused_a;
    (void)unused_b;
    list_init(&q->waiters);
    q->tail = &q->head;
}

void queue_set_heap(struct queue *q, struct heap *heap)
{
    q->heap = heap;
}

static inline struct item *item_of(uint64_t reference)
{
    return (struct item *)(reference & ~CONTAINER_BIT);
}

static inline void append(struct queue *q, uint64_t reference)
{
    struct item *item = item_of(reference);
    item->next = 0;
    *q->tail = reference;
    q->tail = &item->next;
}

static inline void prepend(struct queue *q, uint64_t reference)
{
    struct item *item = item_of(reference);
    item->next = q->head;
    if (q->head == 0)
        q->tail = &item->next;
    q->head = reference;
}

static inline int64_t put(struct queue *q, struct item *item, void (*insert)(struct queue *, uint64_t))
{
    if (list_empty(&q->waiters))
        insert(q, (uint64_t)item);
    else
        thread_wake(thread_first(&q->waiters), (int64_t)item);
    return 0;
}

static inline int64_t put_alloc(struct queue *q, uint64_t value, void (*insert)(struct queue *, uint64_t))
{
    if ((int64_t)value < 0)
        return refuse(ERROR_ARGUMENT);
    if (!list_empty(&q->waiters)) {
        thread_wake(thread_first(&q->waiters), (int64_t)value);
        return 0;
    }
    struct container *c = q->heap != NULL ? heap_take(q->heap, sizeof *c) : NULL;
    if (c == NULL)
        return refuse(ERROR_MEMORY);
    c->value = (int64_t)value;
    insert(q, (uint64_t)c | CONTAINER_BIT);
    return 0;
}

int64_t queue_append(struct queue *q, struct item *item)
{
    uint64_t irq = interrupts_off();
    event_call("queue_append");
    int64_t result = put(q, item, append);
    interrupts_restore(irq);
    return result;
}

int64_t queue_prepend(struct queue *q, struct item *item)
{
    uint64_t irq = interrupts_off();
    event_call("queue_prepend");
    int64_t result = put(q, item, prepend);
    interrupts_restore(irq);
    return result;
}

int64_t queue_append_alloc(struct queue *q, uint64_t value)
{
    uint64_t irq = interrupts_off();
    event_call("queue_append_alloc");
    int64_t result = put_alloc(q, value, append);
    interrupts_restore(irq);
    return result;
}

int64_t queue_prepend_alloc(struct queue *q, uint64_t value)
{
    uint64_t irq = interrupts_off();
    event_call("queue_prepend_alloc");
    int64_t result = put_alloc(q, value, prepend);
    interrupts_restore(irq);
    return result;
}

// Takes the first item out and returns its address or value. The queue must not be empty.
static inline int64_t take(struct queue *q)
{
    uint64_t reference = q->head;
    struct item *item = item_of(reference);
    q->head = item->next;
    if (item->next == 0)
        q->tail = &q->head;
    if ((reference & CONTAINER_BIT) == 0)
        return (int64_t)item;
    int64_t value = ((struct container *)(void *)item)->value;
    heap_give(q->heap, item);
    return value;
}

int64_t queue_get(struct queue *q, uint64_t timeout_ticks)
{
    uint64_t irq = interrupts_off();
    event_call("queue_get");
    int64_t result = q->head != 0 ? take(q) : thread_await(&q->waiters, timeout_ticks);
    interrupts_restore(irq);
    return result;
}
