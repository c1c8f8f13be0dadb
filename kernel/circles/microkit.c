// SPDX-License-Identifier: BSD-2-Clause
//
// Microkit's four sequences, after libmicrokitco: a protected procedure call; a notification
// answered by a notification; and the same awaited by a coroutine, bare and by the coroutine
// library. Two protection domains, the server the more urgent.
#include "bench/kernel_circle.h"

// Handles, and so channels, the same in both domains.
#define CLIENT_INPUT 0
#define CLIENT_CHANNEL 1
#define SERVER_INPUT 2
#define SERVER_CHANNEL 3

#ifdef USER_PROGRAM
#include <cyc/coroutine.h>

#include "user/domain.h"

#define STACK_BYTES 2048

static uint64_t answer(unsigned channel, uint64_t words, struct message *message)
{
    (void)channel;
    (void)message;
    return words;
}

static void notify_client(unsigned channel)
{
    (void)channel;
    domain_notify(CLIENT_CHANNEL);
}

static void serve(struct bench_shared *shared)
{
    struct domain server = {.input = bench_object(shared, SERVER_INPUT),
                            .notified = notify_client,
                            .protected = answer};
    domain_run(&server);
}

static void be_notified(unsigned channel)
{
    (void)channel;
}

static struct domain client = {.notified = be_notified};

static void open(struct bench_shared *shared)
{
    client.input = bench_object(shared, CLIENT_INPUT);
}

static void call_turns(void *arg, uint64_t turns)
{
    struct message m = {0};
    (void)arg;
    for (; turns > 0; turns--)
        domain_call(SERVER_INPUT, 0, &m);
}

static void notify_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        domain_notify(SERVER_CHANNEL);
        domain_serve(&client);
    }
}

// The client's worker is a coroutine; its event loop, the root, is in the turns. A turn begins
// where the loop resumes the worker, so that a test ends with both in their places.
static _Alignas(16) uint8_t stack[STACK_BYTES];
static void *root_place, *worker_place;

static void bare_worker(void *arg)
{
    (void)arg;
    for (;;) {
        domain_notify(SERVER_CHANNEL);
        cyc_coroutine_switch(&worker_place, root_place);
    }
}

static void open_bare(struct bench_shared *shared)
{
    open(shared);
    worker_place = cyc_coroutine_place(stack, sizeof stack, bare_worker, NULL);
}

static void bare_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        cyc_coroutine_switch(&root_place, worker_place);
        domain_serve(&client);
    }
}

static struct cyc_coroutines set;
static struct cyc_coroutine worker;
static struct cyc_coroutine_semaphore reply;

static void library_worker(void *arg)
{
    (void)arg;
    for (;;) {
        cyc_coroutine_wait(&set, &reply);
        domain_notify(SERVER_CHANNEL);
    }
}

static void open_library(struct bench_shared *shared)
{
    open(shared);
    cyc_coroutines_init(&set);
    cyc_coroutine_spawn(&set, &worker, stack, sizeof stack, library_worker, NULL);
    cyc_coroutine_yield(&set); // to its wait
}

static void library_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        cyc_coroutine_signal(&set, &reply);
        domain_serve(&client);
    }
}
#else
static void bind(struct bench_shared *shared)
{
    notification_bind(bench_object(shared, CLIENT_CHANNEL), bench_object(shared, CLIENT_INPUT));
    notification_bind(bench_object(shared, SERVER_CHANNEL), bench_object(shared, SERVER_INPUT));
}
#endif

#define DOMAINS                                                                           \
    .sides = U_TO_U, .spaces = CROSS_SPACE, .naming = BY_NOTHING, .client_priority = 253, \
    .peer_priority = 254,                                                                 \
    .objects = {{OBJECT_endpoint, 0, 0},                                                  \
                {OBJECT_notification, 0, 0},                                              \
                {OBJECT_endpoint, 0, 0},                                                  \
                {OBJECT_notification, 0, 0}},                                             \
    .setup = IN_KERNEL(bind), .peer = IN_USER(serve)
#define NOTIFY(ending, what, start, prepare_, turns_)                                           \
    {.contract = {.key = "microkit." ending,                                                    \
                  .title = what,                                                                \
                  .sequence = SEQUENCE("client: notification_signal", "kernel: switch to peer", \
                                       "peer: notification_signal", "peer: endpoint_receive",   \
                                       "kernel: switch to client", "client: endpoint_receive"), \
                  .interval = "round_trip",                                                     \
                  .from = start,                                                                \
                  .to = "client: in its event loop, notified",                                  \
                  .expect = EXPECT({"wakeups", 1}),                                             \
                  .correction = "none"},                                                        \
     DOMAINS,                                                                                   \
     .prepare = IN_USER(prepare_),                                                              \
     .turns = IN_USER(turns_),                                                                  \
     .client_calls = 2,                                                                         \
     .peer_calls = 2,                                                                           \
     .switches = 2}

const struct circle microkit_circles[] = {
    {.contract = {.key = "microkit.ppcall",
                  .title = "Protected procedure call and return",
                  .sequence = SEQUENCE("client: endpoint_call", "kernel: switch to peer",
                                       "peer: endpoint_reply_receive", "kernel: switch to client"),
                  .interval = "round_trip",
                  .from = "client: before the call",
                  .to = "client: after the call",
                  .expect = EXPECT({"wakeups", 2}, {"fastpaths", 2}),
                  .correction = "none"},
     DOMAINS,
     .passive = 1,
     .turns = IN_USER(call_turns),
     .client_calls = 1,
     .peer_calls = 1,
     .switches = 2},
    NOTIFY("notify", "Notification and notification back, both to event loops",
           "client: before notify", open, notify_turns),
    NOTIFY("notify_bare_coroutine_wait",
           "Notification round trip, awaited by a bare coroutine switch",
           "client: before the switch to the worker", open_bare, bare_turns),
    NOTIFY("notify_coroutine_wait",
           "Notification round trip, awaited on a semaphore of the coroutine library",
           "client: before the signal to the worker", open_library, library_turns),
    END_OF_FAMILY,
};
