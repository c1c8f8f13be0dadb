// SPDX-License-Identifier: BSD-2-Clause
//
// The shapes of Zephyr's rows: the loops around an operation, inlined, and the fields that rows of
// one shape share. `zephyr` is what latency_measure does with the cost of its time stamps in the
// row: "subtracted", "left in", or "amortised" over one loop. We always store it as overhead,
// beside the values.
#ifndef ZEPHYR_H
#define ZEPHYR_H

#include "bench/kernel_circle.h"

#define PLENTY (1ul << 62)
#define CLIENT_PRIORITY 10

// What a circle's operations work on: loaded before the interval, so that the timed code finds it
// in registers.
struct props {
    void *object, *second; // the circle's first two objects
    struct bench_shared *shared;
};
typedef void operation(struct props *props);

#define PART static inline __attribute__((always_inline))

PART struct props take_props(struct bench_shared *shared)
{
    return (struct props){bench_object(shared, 0), bench_object(shared, 1), shared};
}

PART void nothing(struct props *props)
{
    (void)props;
}

// One operation again and again.
PART void repeat(void *arg, uint64_t turns, operation *timed)
{
    struct props props = take_props(arg);
    for (; turns > 0; turns--)
        timed(&props);
}

// A turn of which one operation is timed.
PART int64_t time_part(void *arg, operation *before, operation *timed, operation *after)
{
    struct props props = take_props(arg);
    before(&props);
    uint64_t begin = machine_clock.begin();
    timed(&props);
    int64_t value = (int64_t)(machine_clock.end() - begin);
    after(&props);
    return value;
}

// From before the operation to where the peer stamps.
PART int64_t time_to_peer(void *arg, operation *timed)
{
    struct props props = take_props(arg);
    uint64_t begin = machine_clock.begin();
    timed(&props);
    return (int64_t)(props.shared->end - begin);
}

// The peers of time_to_peer(): one stamps as soon as it runs again after its operation, one just
// before it.
PART void stamp_after(struct bench_shared *shared, operation *wait)
{
    struct props props = take_props(shared);
    for (;;) {
        wait(&props);
        shared->end = machine_clock.end();
    }
}

PART void stamp_before(struct bench_shared *shared, operation *wake)
{
    struct props props = take_props(shared);
    for (;;) {
        shared->end = machine_clock.end();
        wake(&props);
    }
}

#define CONTRACT(key_, title_, sequence_, kind, from_, to_, expect_, correction_, zephyr) \
    .contract = {.key = key_,                                                             \
                 .title = title_,                                                         \
                 .sequence = sequence_,                                                   \
                 .interval = kind,                                                        \
                 .from = from_,                                                           \
                 .to = to_,                                                               \
                 .expect = expect_,                                                       \
                 .params = PARAMS({"zephyr_correction", zephyr}),                         \
                 .correction = correction_}

// One operation that nobody waits for, accumulated.
#define IMMEDIATE(key, title, call)                                                       \
    CONTRACT(key, title, SEQUENCE("client: " call), "round_trip", "client: before " call, \
             "client: after " call, NULL, "none", "amortised"),                           \
        .naming = BY_MODE, .client_priority = CLIENT_PRIORITY, .client_calls = 1

// One operation of a turn that has others, too.
#define PART_OF_TURN(key, title, sequence, call, zephyr)                                        \
    CONTRACT(key, title, sequence, "half", "client: before " call, "client: after " call, NULL, \
             "clock reading", zephyr),                                                          \
        .client_priority = CLIENT_PRIORITY

#define TO_AND_FRO(call, answer) \
    SEQUENCE("client: " call, "kernel: switch to peer", "peer: " answer, "kernel: switch to client")
#define ONE_CALL_EACH .naming = BY_PAIR, .client_calls = 1, .peer_calls = 1, .switches = 2

// The client wakes a more urgent peer: until that runs.
#define WAKE(key, title, call, wait, zephyr)                                        \
    CONTRACT(key, title, TO_AND_FRO(call, wait), "one_way", "client: before " call, \
             "peer: after " wait, EXPECT({"wakeups", 1}), "clock reading", zephyr), \
        ONE_CALL_EACH, .client_priority = CLIENT_PRIORITY, .peer_priority = CLIENT_PRIORITY + 1

// The client blocks: until a less urgent peer runs, which then wakes it.
#define BLOCK(key, title, call, wake, zephyr)                                        \
    CONTRACT(key, title, TO_AND_FRO(call, wake), "one_way", "client: before " call,  \
             "peer: before " wake, EXPECT({"wakeups", 1}), "clock reading", zephyr), \
        ONE_CALL_EACH, .client_priority = CLIENT_PRIORITY + 1, .peer_priority = CLIENT_PRIORITY

#endif
