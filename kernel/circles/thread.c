// SPDX-License-Identifier: BSD-2-Clause
//
// Threads: yield between equals.
#include "../circle.h"

// The peer's yield returns, it reads the clock, and yields back.
static int64_t yield_pass(void *arg)
{
    struct stage *stage = arg;
    uint64_t begin = machine_clock.begin();
    thread_yield();
    return (int64_t)(stage->end - begin);
}

static void yield_peer(struct stage *stage)
{
    for (;;) {
        thread_yield();
        stage->end = machine_clock.end();
    }
}

static void yield_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        thread_yield();
}

static void yield_forever(struct stage *stage)
{
    (void)stage;
    for (;;)
        thread_yield();
}

#define YIELD_SEQUENCE                                                                                                 \
    SEQUENCE("client: thread_yield", "kernel: switch to peer", "peer: thread_yield", "kernel: switch to client")
#define ONE_YIELD                                                                                                      \
    .sides = ALL_PAIRS, .naming = BY_PAIR, .pass = yield_pass, .peer = yield_peer, .client_priority = 10,              \
    .peer_priority = 10, .client_calls = 1, .peer_calls = 1, .switches = 2

const struct circle thread_circles[] = {
    {.contract = {.key = "thread.yield.preemptive.ctx",
                  .title = "Context switch by yield between preemptive threads of equal priority",
                  .sequence = YIELD_SEQUENCE,
                  .interval = "one_way",
                  .from = "client: before thread_yield",
                  .to = "peer: after thread_yield",
                  .correction = "none"},
     ONE_YIELD},
    {.contract = {.key = "thread.yield.cooperative.ctx",
                  .title = "Context switch by yield between cooperative threads of equal priority",
                  .sequence = YIELD_SEQUENCE,
                  .interval = "one_way",
                  .from = "client: before thread_yield",
                  .to = "peer: after thread_yield",
                  .correction = "none"},
     ONE_YIELD,
     .cooperative = 1},
    {.contract = {.key = "thread.yield.round_trip",
                  .title = "Two context switches by yield: to the peer and back",
                  .sequence = YIELD_SEQUENCE,
                  .interval = "round_trip",
                  .from = "client: before thread_yield",
                  .to = "client: after thread_yield",
                  .correction = "none"},
     .sides = U_TO_U,
     .spaces = SAME_SPACE | CROSS_SPACE,
     .naming = BY_PAIR,
     .turns = yield_turns,
     .peer = yield_forever,
     .client_priority = 10,
     .peer_priority = 10,
     .client_calls = 1,
     .peer_calls = 1,
     .switches = 2},
    END_OF_FAMILY,
};
