// SPDX-License-Identifier: BSD-2-Clause
//
// Semaphores, by Zephyr's keys.
#include "../circle.h"

#define PLENTY (1ul << 62)

static void give_turns(void *arg, uint64_t turns)
{
    struct semaphore *s = stage_object(arg, 0);
    for (; turns > 0; turns--)
        semaphore_give(s);
}

static void take_turns(void *arg, uint64_t turns)
{
    struct semaphore *s = stage_object(arg, 0);
    for (; turns > 0; turns--)
        semaphore_take(s, FOREVER);
}

static int64_t give_pass(void *arg)
{
    struct stage *stage = arg;
    struct semaphore *s = stage_object(stage, 0);
    uint64_t begin = machine_clock.begin();
    semaphore_give(s);
    return (int64_t)(stage->end - begin);
}

static void taker(struct stage *stage)
{
    struct semaphore *s = stage_object(stage, 0);
    for (;;) {
        semaphore_take(s, FOREVER);
        stage->end = machine_clock.end();
    }
}

static int64_t take_pass(void *arg)
{
    struct stage *stage = arg;
    struct semaphore *s = stage_object(stage, 0);
    uint64_t begin = machine_clock.begin();
    semaphore_take(s, FOREVER);
    return (int64_t)(stage->end - begin);
}

static void giver(struct stage *stage)
{
    struct semaphore *s = stage_object(stage, 0);
    for (;;) {
        stage->end = machine_clock.end();
        semaphore_give(s);
    }
}

const struct circle semaphore_circles[] = {
    {.contract = {.key = "semaphore.give.immediate",
                  .title = "Give a semaphore that nobody waits for",
                  .sequence = SEQUENCE("client: semaphore_give"),
                  .interval = "round_trip",
                  .from = "client: before semaphore_give",
                  .to = "client: after semaphore_give",
                  .correction = "none"},
     .sides = ALL_ALONE,
     .naming = BY_MODE,
     .objects = {{OBJECT_semaphore, 0, PLENTY}},
     .turns = give_turns,
     .client_priority = 10,
     .client_calls = 1},
    {.contract = {.key = "semaphore.take.immediate",
                  .title = "Take a semaphore that is there",
                  .sequence = SEQUENCE("client: semaphore_take"),
                  .interval = "round_trip",
                  .from = "client: before semaphore_take",
                  .to = "client: after semaphore_take",
                  .correction = "none"},
     .sides = ALL_ALONE,
     .naming = BY_MODE,
     .objects = {{OBJECT_semaphore, PLENTY, PLENTY}},
     .turns = take_turns,
     .client_priority = 10,
     .client_calls = 1},
    {.contract = {.key = "semaphore.give.wake+ctx",
                  .title = "Give a semaphore that a more urgent thread waits for: until it runs",
                  .sequence = SEQUENCE("client: semaphore_give", "kernel: switch to peer", "peer: semaphore_take",
                                       "kernel: switch to client"),
                  .interval = "one_way",
                  .from = "client: before semaphore_give",
                  .to = "peer: after semaphore_take",
                  .expect = EXPECT({"wakeups", 1}),
                  .correction = "none"},
     .sides = ALL_PAIRS,
     .naming = BY_PAIR,
     .objects = {{OBJECT_semaphore, 0, 1}},
     .pass = give_pass,
     .peer = taker,
     .client_priority = 10,
     .peer_priority = 11,
     .client_calls = 1,
     .peer_calls = 1,
     .switches = 2},
    {.contract = {.key = "semaphore.take.blocking",
                  .title = "Take a semaphore that is not there: until a less urgent thread runs",
                  .sequence = SEQUENCE("client: semaphore_take", "kernel: switch to peer", "peer: semaphore_give",
                                       "kernel: switch to client"),
                  .interval = "one_way",
                  .from = "client: before semaphore_take",
                  .to = "peer: before semaphore_give",
                  .expect = EXPECT({"wakeups", 1}),
                  .correction = "none"},
     .sides = ALL_PAIRS,
     .naming = BY_PAIR,
     .objects = {{OBJECT_semaphore, 0, 1}},
     .pass = take_pass,
     .peer = giver,
     .client_priority = 11,
     .peer_priority = 10,
     .client_calls = 1,
     .peer_calls = 1,
     .switches = 2},
    END_OF_FAMILY,
};
