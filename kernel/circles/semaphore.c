// SPDX-License-Identifier: BSD-2-Clause
//
// Semaphores, by Zephyr's keys.
#include "zephyr.h"

PART void give(struct props *p)
{
    semaphore_give(p->object);
}

PART void take(struct props *p)
{
    semaphore_take(p->object, FOREVER);
}

static void give_turns(void *arg, uint64_t turns)
{
    repeat(arg, turns, give);
}

static void take_turns(void *arg, uint64_t turns)
{
    repeat(arg, turns, take);
}

static int64_t give_pass(void *arg)
{
    return time_to_peer(arg, give);
}

static int64_t take_pass(void *arg)
{
    return time_to_peer(arg, take);
}

static void taker(struct bench_shared *shared)
{
    stamp_after(shared, take);
}

static void giver(struct bench_shared *shared)
{
    stamp_before(shared, give);
}

const struct circle semaphore_circles[] = {
    {IMMEDIATE("semaphore.give.immediate", "Give a semaphore that nobody waits for",
               "semaphore_give"),
     .sides = ALL_ALONE, .objects = {{OBJECT_semaphore, 0, PLENTY}}, .turns = give_turns},
    {IMMEDIATE("semaphore.take.immediate", "Take a semaphore that is there", "semaphore_take"),
     .sides = ALL_ALONE, .objects = {{OBJECT_semaphore, PLENTY, PLENTY}}, .turns = take_turns},
    {WAKE("semaphore.give.wake+ctx",
          "Give a semaphore that a more urgent thread waits for: until it runs", "semaphore_give",
          "semaphore_take", "subtracted"),
     .sides = ALL_PAIRS, .objects = {{OBJECT_semaphore, 0, 1}}, .pass = give_pass, .peer = taker},
    {BLOCK("semaphore.take.blocking",
           "Take a semaphore that is not there: until a less urgent thread runs", "semaphore_take",
           "semaphore_give", "subtracted"),
     .sides = ALL_PAIRS, .objects = {{OBJECT_semaphore, 0, 1}}, .pass = take_pass, .peer = giver},
    END_OF_FAMILY,
};
