// SPDX-License-Identifier: BSD-2-Clause
#include "queue.h"

#include "compiler.h"
#include "counters.h"
#include "error.h"
#include "eventlog.h"
#include "heap.h"
#include "riscv.h"
#include "sched.h"

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

// Append and prepend, as constant arguments of the inlined functions below.
typedef void insertion(struct queue *q, uint64_t reference);
typedef int64_t value_insertion(struct queue *q, uint64_t value, uint64_t irq);

static inline int64_t put(struct queue *q, struct item *item, insertion *insert, uint64_t irq)
{
    if (!list_empty(&q->waiters))
        return thread_deliver(&q->waiters, (int64_t)item, irq);
    insert(q, (uint64_t)item);
    interrupts_restore(irq);
    return 0;
}

static inline struct container *take(struct heap *heap)
{
    lock_briefly(&heap->object.lock);
    struct container *c = heap_take(heap, sizeof *c);
    unlock_briefly(&heap->object.lock);
    return c;
}

static inline int64_t insert_value(struct queue *q, uint64_t value, insertion *insert, uint64_t irq)
{
    int64_t result = 0;
    struct container *c = q->heap != NULL ? take(q->heap) : NULL;
    if (c == NULL) {
        result = refuse(ERROR_MEMORY);
    } else {
        c->value = (int64_t)value;
        insert(q, (uint64_t)c | CONTAINER_BIT);
    }
    interrupts_restore(irq);
    return result;
}

static NOINLINE int64_t append_value(struct queue *q, uint64_t value, uint64_t irq)
{
    return insert_value(q, value, append, irq);
}

static NOINLINE int64_t prepend_value(struct queue *q, uint64_t value, uint64_t irq)
{
    return insert_value(q, value, prepend, irq);
}

static inline int64_t put_value(struct queue *q, uint64_t value, value_insertion *insert,
                                uint64_t irq)
{
    if ((int64_t)value < 0) {
        interrupts_restore(irq);
        return refuse(ERROR_ARGUMENT);
    }
    if (!list_empty(&q->waiters))
        return thread_deliver(&q->waiters, (int64_t)value, irq);
    return insert(q, value, irq);
}

int64_t queue_append(struct queue *q, struct item *item)
{
    uint64_t irq = object_enter(&q->object);
    eventlog_call("queue_append");
    return put(q, item, append, irq);
}

int64_t queue_prepend(struct queue *q, struct item *item)
{
    uint64_t irq = object_enter(&q->object);
    eventlog_call("queue_prepend");
    return put(q, item, prepend, irq);
}

int64_t queue_append_alloc(struct queue *q, uint64_t value)
{
    uint64_t irq = object_enter(&q->object);
    eventlog_call("queue_append_alloc");
    return put_value(q, value, append_value, irq);
}

int64_t queue_prepend_alloc(struct queue *q, uint64_t value)
{
    uint64_t irq = object_enter(&q->object);
    eventlog_call("queue_prepend_alloc");
    return put_value(q, value, prepend_value, irq);
}

// Called last: frees the container and returns its value.
static NOINLINE int64_t unpack(struct queue *q, struct container *c, uint64_t irq)
{
    int64_t value = c->value;
    lock_briefly(&q->heap->object.lock);
    heap_give(q->heap, c);
    unlock_briefly(&q->heap->object.lock);
    interrupts_restore(irq);
    return value;
}

int64_t queue_get(struct queue *q, uint64_t timeout_ticks)
{
    uint64_t irq = object_enter(&q->object);
    eventlog_call("queue_get");
    uint64_t reference = q->head;
    if (reference == 0)
        return thread_await(&q->waiters, timeout_ticks, irq);
    struct item *item = item_of(reference);
    q->head = item->next;
    if (item->next == 0)
        q->tail = &q->head;
    if (reference & CONTAINER_BIT)
        return unpack(q, (struct container *)(void *)item, irq);
    interrupts_restore(irq);
    return (int64_t)item;
}
