// SPDX-License-Identifier: BSD-2-Clause
//
// Semaphores, by Zephyr's keys.
#include "other_hart.h"
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

#if CONFIG_SMP
PART void ask(struct props *p)
{
    semaphore_give(p->object);
    semaphore_take(p->second, FOREVER);
}

PART void answer(struct props *p)
{
    semaphore_take(p->object, FOREVER);
    semaphore_give(p->second);
}

PART void stamp_and_answer(struct props *p)
{
    semaphore_take(p->object, FOREVER);
    p->shared->end = machine_clock.end();
    semaphore_give(p->second);
}

static void ask_turns(void *arg, uint64_t turns)
{
    repeat(arg, turns, ask);
}

static int64_t ask_pass(void *arg)
{
    return time_to_peer(arg, ask);
}

static void answerer(struct bench_shared *shared)
{
    repeat(shared, UINT64_MAX, answer);
}

static void stamping_answerer(struct bench_shared *shared)
{
    repeat(shared, UINT64_MAX, stamp_and_answer);
}

#define TWO_SEMAPHORES .objects = {{OBJECT_semaphore, 0, 1}, {OBJECT_semaphore, 0, 1}}
#endif

const struct circle semaphore_circles[] = {
#if CONFIG_SMP
    {ROUND_TRIP_BETWEEN_HARTS("semaphore.round_trip",
                              "Give a semaphore to the other hart and take the one it gives",
                              "semaphore_give", "semaphore_take"),
     TWO_SEMAPHORES, .turns = ask_turns, .peer = answerer},
    {BETWEEN_HARTS("semaphore.give.wake+ctx",
                   "Give a semaphore that a thread of the idle other hart waits for: until it runs",
                   "semaphore_give", "semaphore_take", "one_way", "semaphore_give",
                   "peer: after semaphore_take"),
     TWO_SEMAPHORES, .naming = BY_PAIR, .pass = ask_pass, .peer = stamping_answerer},
#endif
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
