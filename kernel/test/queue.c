// SPDX-License-Identifier: BSD-2-Clause
//
// Queues and stacks: what comes out, and in which order.
#include "test.h"

#define HEAP_BYTES 4096

static struct queue *queue_with_heap(void)
{
    struct queue *q = test_object(OBJECT_queue, 0, 0);
    queue_set_heap(q, test_object(OBJECT_heap, HEAP_BYTES, 0));
    return q;
}

static void appended_come_in_order(void)
{
    struct queue *q = queue_with_heap();
    for (uint64_t i = 0; i < 10; i++)
        CHECK_EQUAL(queue_append_alloc(q, i), 0);
    for (uint64_t i = 0; i < 10; i++)
        CHECK_EQUAL(queue_get(q, 0), i);
    CHECK_EQUAL(queue_get(q, 0), ERROR_BUSY);
}

static void prepended_come_in_reverse(void)
{
    struct queue *q = queue_with_heap();
    for (uint64_t i = 0; i < 10; i++)
        CHECK_EQUAL(queue_prepend_alloc(q, i), 0);
    for (uint64_t i = 10; i > 0; i--)
        CHECK_EQUAL(queue_get(q, 0), i - 1);
    CHECK_EQUAL(queue_get(q, 0), ERROR_BUSY);
}

static void items_and_values_mix(void)
{
    struct queue *q = queue_with_heap();
    static struct item items[2];
    queue_append_alloc(q, 1);
    queue_append(q, &items[0]);
    queue_prepend(q, &items[1]);
    queue_append_alloc(q, 2);
    CHECK_EQUAL(queue_get(q, 0), &items[1]);
    CHECK_EQUAL(queue_get(q, 0), 1);
    CHECK_EQUAL(queue_get(q, 0), &items[0]);
    CHECK_EQUAL(queue_get(q, 0), 2);
}

static void empty_queue_takes_both_ends(void)
{
    struct queue *q = queue_with_heap();
    for (uint64_t i = 0; i < 3; i++) {
        queue_append_alloc(q, i);
        CHECK_EQUAL(queue_get(q, 0), i);
    }
    for (int i = 0; i < 3; i++) {
        queue_prepend_alloc(q, 2);
        queue_append_alloc(q, 3);
        queue_prepend_alloc(q, 1);
        CHECK_EQUAL(queue_get(q, 0), 1);
        CHECK_EQUAL(queue_get(q, 0), 2);
        CHECK_EQUAL(queue_get(q, 0), 3);
    }
}

static void heap_bounds_the_values(void)
{
    struct queue *q = queue_with_heap();
    uint64_t put = 0;
    while (queue_append_alloc(q, put) == 0)
        put++;
    CHECK(put > 0);
    CHECK_EQUAL(queue_append_alloc(q, put), ERROR_MEMORY);
    CHECK_EQUAL(queue_get(q, 0), 0);
    CHECK_EQUAL(queue_append_alloc(q, put), 0);
    for (uint64_t i = 1; i <= put; i++)
        CHECK_EQUAL(queue_get(q, 0), i);
}

static void impossible_values_are_refused(void)
{
    struct queue *without_heap = test_object(OBJECT_queue, 0, 0);
    CHECK_EQUAL(queue_append_alloc(without_heap, 1), ERROR_MEMORY);
    CHECK_EQUAL(queue_append_alloc(queue_with_heap(), 1ul << 63), ERROR_ARGUMENT);
    CHECK_EQUAL(queue_prepend_alloc(queue_with_heap(), ~0ul), ERROR_ARGUMENT);
    struct stack *s = test_object(OBJECT_stack, 1, 0);
    CHECK_EQUAL(stack_push(s, ~0ul), ERROR_ARGUMENT);
}

static void get_then_note(void *queue)
{
    note((char)queue_get(queue, FOREVER));
}

static void waiter_gets_the_value_itself(void)
{
    struct queue *q =
        test_object(OBJECT_queue, 0, 0); // without a heap: nothing is allocated for a waiter
    test_thread(get_then_note, q, RUNNER_PRIORITY + 1);
    CHECK_EQUAL(queue_append_alloc(q, 'a'), 0);
    test_thread(get_then_note, q, RUNNER_PRIORITY + 1);
    CHECK_EQUAL(queue_prepend_alloc(q, 'b'), 0);
    CHECK(noted("ab"));
}

static void stack_pops_the_latest(void)
{
    struct stack *s = test_object(OBJECT_stack, 3, 0);
    for (uint64_t i = 0; i < 3; i++)
        CHECK_EQUAL(stack_push(s, i), 0);
    CHECK_EQUAL(stack_push(s, 3), ERROR_MEMORY);
    CHECK_EQUAL(stack_pop(s, 0), 2);
    CHECK_EQUAL(stack_push(s, 3), 0);
    CHECK_EQUAL(stack_pop(s, 0), 3);
    CHECK_EQUAL(stack_pop(s, 0), 1);
    CHECK_EQUAL(stack_pop(s, 0), 0);
    CHECK_EQUAL(stack_pop(s, 0), ERROR_BUSY);
}

static void stack_is_a_page_at_most(void)
{
    struct stack *s = test_object(OBJECT_stack, 1000000, 0);
    uint64_t pushed = 0;
    while (stack_push(s, pushed) == 0)
        pushed++;
    CHECK_EQUAL(pushed, STACK_CAPACITY_MAX);
}

const struct test queue_tests[] = {
    {"what is appended comes in order", appended_come_in_order},
    {"what is prepended comes in reverse", prepended_come_in_reverse},
    {"items and values mix in one queue", items_and_values_mix},
    {"an empty queue takes from both ends", empty_queue_takes_both_ends},
    {"the heap bounds the values in a queue", heap_bounds_the_values},
    {"impossible values are refused", impossible_values_are_refused},
    {"a waiter gets the value itself", waiter_gets_the_value_itself},
    {"a stack pops the latest", stack_pops_the_latest},
    {"a stack is a page at most", stack_is_a_page_at_most},
    END_OF_TESTS,
};
