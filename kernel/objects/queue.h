// SPDX-License-Identifier: BSD-2-Clause
//
// Queues, as Zephyr's k_queue: a FIFO for those who append, a LIFO for those who prepend. An item
// is memory of the thread that puts it (kernel threads), or a value that the queue copies into a
// container from its heap (any thread).
#ifndef QUEUE_H
#define QUEUE_H

#include <stdint.h>

#include "list.h"
#include "object.h"

struct heap;

// What is put into a queue begins with this.
struct item {
    uint64_t next; // a reference, below
};

// A reference is the address of an item, plus 1 if the item is a container; 0 is none.
struct queue {
    struct object object;
    struct link waiters;
    uint64_t head;     // reference to the first item
    uint64_t *tail;    // the place of the reference to the next appended item
    struct heap *heap; // of the containers; needed to put values
};

void queue_init(struct queue *q, uint64_t unused_a, uint64_t unused_b);
void queue_set_heap(struct queue *q, struct heap *heap);

// To the first waiter, or to the end (append) or the front (prepend) of the queue.
int64_t queue_append(struct queue *q, struct item *item);
int64_t queue_prepend(struct queue *q, struct item *item);
// The same for a value of 0..INT64_MAX; ERROR_MEMORY if nobody waits and the heap is exhausted.
int64_t queue_append_alloc(struct queue *q, uint64_t value);
int64_t queue_prepend_alloc(struct queue *q, uint64_t value);
// The first item's address, or the value, whose container is freed, or an error. A user program
// that gets an item of a kernel thread gets an address that it cannot read.
int64_t queue_get(struct queue *q, uint64_t timeout_ticks);

#endif
