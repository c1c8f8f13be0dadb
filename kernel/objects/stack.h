// SPDX-License-Identifier: BSD-2-Clause
//
// Stacks of values, as Zephyr's k_stack: last in, first out, with a fixed capacity.
#ifndef STACK_H
#define STACK_H

#include <stdint.h>

#include "list.h"
#include "memlayout.h"
#include "object.h"

#define STACK_CAPACITY_MAX (PAGE_BYTES / sizeof(int64_t)) // one page

struct stack {
    struct object object;
    struct link waiters;
    int64_t *top; // after the last value
    int64_t *bottom, *limit;
};

// The capacity is 0 if memory is out.
void stack_init(struct stack *s, uint64_t capacity, uint64_t unused);
void stack_end(struct stack *s); // frees the page

// A value of 0..INT64_MAX, to the first waiter or onto the stack; ERROR_MEMORY if it is full.
int64_t stack_push(struct stack *s, uint64_t value);
int64_t stack_pop(struct stack *s, uint64_t timeout_ticks);

#endif
