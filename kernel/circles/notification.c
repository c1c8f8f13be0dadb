// SPDX-License-Identifier: BSD-2-Clause
//
// Notifications: sel4bench's rows, what their names say and what they time, and KBench's circle.
#include "other_hart.h"

static void signal_turns(void *arg, uint64_t turns)
{
    struct notification *n = bench_object(arg, 0);
    for (; turns > 0; turns--)
        notification_signal(n);
}

static void poll_turns(void *arg, uint64_t turns)
{
    struct notification *n = bench_object(arg, 0);
    for (; turns > 0; turns--)
        notification_poll(n);
}

static void waiter(struct bench_shared *shared)
{
    struct notification *n = bench_object(shared, 0);
    for (;;)
        notification_wait(n);
}

static int64_t signal_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct notification *n = bench_object(shared, 0);
    uint64_t begin = machine_clock.begin();
    notification_signal(n);
    return (int64_t)(shared->end - begin);
}

static void timed_waiter(struct bench_shared *shared)
{
    struct notification *n = bench_object(shared, 0);
    for (;;) {
        notification_wait(n);
        shared->end = machine_clock.end();
    }
}

// The more urgent thread is the client here: it waits, and the less urgent one returns from its
// signal.
static int64_t wait_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct notification *n = bench_object(shared, 0);
    uint64_t begin = machine_clock.begin();
    notification_wait(n);
    return (int64_t)(shared->end - begin);
}

static void timed_signaller(struct bench_shared *shared)
{
    struct notification *n = bench_object(shared, 0);
    for (;;) {
        notification_signal(n);
        shared->end = machine_clock.end();
    }
}

#if CONFIG_SMP
static void ask_turns(void *arg, uint64_t turns)
{
    struct notification *question = bench_object(arg, 0), *answer = bench_object(arg, 1);
    for (; turns > 0; turns--) {
        notification_signal(question);
        notification_wait(answer);
    }
}

static void answerer(struct bench_shared *shared)
{
    struct notification *question = bench_object(shared, 0), *answer = bench_object(shared, 1);
    for (;;) {
        notification_wait(question);
        notification_signal(answer);
    }
}
#endif

#define PAIR                                                                         \
    .sides = K_TO_K | U_TO_U, .spaces = SAME_SPACE | CROSS_SPACE, .naming = BY_PAIR, \
    .objects = {{OBJECT_notification, 0, 0}}, .client_calls = 1, .peer_calls = 1, .switches = 2
#define SIGNAL_SEQUENCE                                                                          \
    SEQUENCE("client: notification_signal", "kernel: switch to peer", "peer: notification_wait", \
             "kernel: switch to client")
#define SIGNAL(priority)                                                              \
    {.contract = {.key = "notification.signal.wake+ctx.prio_" #priority,              \
                  .title = "Signal to a waiting thread of higher priority " #priority \
                           ": until it runs",                                         \
                  .sequence = SIGNAL_SEQUENCE,                                        \
                  .interval = "one_way",                                              \
                  .from = "client: before notification_signal",                       \
                  .to = "peer: after notification_wait",                              \
                  .expect = EXPECT({"wakeups", 1}),                                   \
                  .correction = "none"},                                              \
     PAIR,                                                                            \
     .pass = signal_pass,                                                             \
     .peer = timed_waiter,                                                            \
     .client_priority = 0,                                                            \
     .peer_priority = (priority)}
#define WAIT(priority)                                                                           \
    {.contract = {.key = "notification.wait.blocking.prio_" #priority,                           \
                  .title = "Wait in a thread of priority " #priority                             \
                           ": until the less urgent signaller runs on",                          \
                  .sequence = SEQUENCE("client: notification_wait", "kernel: switch to peer",    \
                                       "peer: notification_signal", "kernel: switch to client"), \
                  .interval = "one_way",                                                         \
                  .from = "client: before notification_wait",                                    \
                  .to = "peer: after notification_signal",                                       \
                  .expect = EXPECT({"wakeups", 1}),                                              \
                  .correction = "none"},                                                         \
     PAIR,                                                                                       \
     .pass = wait_pass,                                                                          \
     .peer = timed_signaller,                                                                    \
     .client_priority = (priority),                                                              \
     .peer_priority = 0}

const struct circle notification_circles[] = {
#if CONFIG_SMP
    {ROUND_TRIP_BETWEEN_HARTS("notification.round_trip",
                              "Signal to the other hart and wait for the signal it answers with",
                              "notification_signal", "notification_wait"),
     .objects = {{OBJECT_notification, 0, 0}, {OBJECT_notification, 0, 0}}, .turns = ask_turns,
     .peer = answerer},
#endif
    {.contract = {.key = "notification.signal.immediate",
                  .title = "Signal that nobody waits for",
                  .sequence = SEQUENCE("client: notification_signal"),
                  .interval = "round_trip",
                  .from = "client: before notification_signal",
                  .to = "client: after notification_signal",
                  .correction = "none"},
     .sides = ALL_ALONE,
     .naming = BY_MODE,
     .objects = {{OBJECT_notification, 0, 0}},
     .turns = signal_turns,
     .client_priority = 10,
     .client_calls = 1},
    {.contract = {.key = "notification.poll.immediate",
                  .title = "Poll of a notification without a signal",
                  .sequence = SEQUENCE("client: notification_poll"),
                  .interval = "round_trip",
                  .from = "client: before notification_poll",
                  .to = "client: after notification_poll",
                  .correction = "none"},
     .sides = ALL_ALONE,
     .naming = BY_MODE,
     .objects = {{OBJECT_notification, 0, 0}},
     .turns = poll_turns,
     .client_priority = 10,
     .client_calls = 1},
    {.contract = {.key = "notification.round_trip.low_to_high",
                  .title =
                      "KBench: signal from a low- to a high-priority thread, which waits again",
                  .sequence = SIGNAL_SEQUENCE,
                  .interval = "round_trip",
                  .from = "client: before notification_signal",
                  .to = "client: after notification_signal",
                  .expect = EXPECT({"wakeups", 1}),
                  .correction = "none"},
     PAIR,
     .turns = signal_turns,
     .peer = waiter,
     .client_priority = 254,
     .peer_priority = 255},
    SIGNAL(1),
    SIGNAL(65),
    SIGNAL(129),
    SIGNAL(193),
    WAIT(1),
    WAIT(65),
    WAIT(129),
    WAIT(193),
    END_OF_FAMILY,
};
