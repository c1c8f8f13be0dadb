// SPDX-License-Identifier: BSD-2-Clause
//
// Stacks of values, by Zephyr's keys.
#include "zephyr.h"

#define VALUE 42
#define CAPACITY 16

PART void push(struct props *p)
{
    stack_push(p->object, VALUE);
}

PART void pop(struct props *p)
{
    stack_pop(p->object, FOREVER);
}

static int64_t push_part(void *arg)
{
    return time_part(arg, nothing, push, pop);
}

static int64_t pop_part(void *arg)
{
    return time_part(arg, push, pop, nothing);
}

static int64_t push_pass(void *arg)
{
    return time_to_peer(arg, push);
}

static int64_t pop_pass(void *arg)
{
    return time_to_peer(arg, pop);
}

static void popper(struct bench_shared *shared)
{
    stamp_after(shared, pop);
}

static void pusher(struct bench_shared *shared)
{
    stamp_before(shared, push);
}

#define PUSH_AND_POP SEQUENCE("client: stack_push", "client: stack_pop")
#define ONE_STACK .objects = {{OBJECT_stack, CAPACITY, 0}}

const struct circle stack_circles[] = {
    {PART_OF_TURN("stack.push.immediate", "Push a value that nobody waits for", PUSH_AND_POP,
                  "stack_push", "subtracted"),
     ONE_STACK, .sides = ALL_ALONE, .naming = BY_MODE, .client_calls = 2, .pass = push_part},
    {PART_OF_TURN("stack.pop.immediate", "Pop a value that is there", PUSH_AND_POP, "stack_pop",
                  "subtracted"),
     ONE_STACK, .sides = ALL_ALONE, .naming = BY_MODE, .client_calls = 2, .pass = pop_part},
    {WAKE("stack.push.wake+ctx", "Push a value that a more urgent thread waits for: until it runs",
          "stack_push", "stack_pop", "left in"),
     ONE_STACK, .sides = ALL_PAIRS, .pass = push_pass, .peer = popper},
    {BLOCK("stack.pop.blocking", "Pop a value that is not there: until a less urgent thread runs",
           "stack_pop", "stack_push", "left in"),
     ONE_STACK, .sides = ALL_PAIRS, .pass = pop_pass, .peer = pusher},
    END_OF_FAMILY,
};
