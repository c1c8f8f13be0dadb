// SPDX-License-Identifier: BSD-2-Clause
//
// Synchronous messages between user threads, the rows of sel4bench: Call, ReplyRecv and Send one
// way, and the round trip.
#include "bench/kernel_circle.h"

static void round_trip_turns(void *arg, uint64_t turns)
{
    struct bench_shared *shared = arg;
    struct endpoint *e = bench_object(shared, 0);
    uint64_t words = shared->words;
    struct message m = {0};
    for (; turns > 0; turns--)
        endpoint_call(e, words, &m);
}

static void server(struct bench_shared *shared)
{
    struct endpoint *e = bench_object(shared, 0);
    uint64_t words = shared->words;
    struct message m = {0};
    endpoint_receive(e, &m);
    for (;;)
        endpoint_reply_receive(e, words, &m);
}

// To the server: it reads the clock when its receive returns.
static int64_t call_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct endpoint *e = bench_object(shared, 0);
    uint64_t words = shared->words;
    struct message m = {0};
    uint64_t begin = machine_clock.begin();
    endpoint_call(e, words, &m);
    return (int64_t)(shared->end - begin);
}

static void receiving_server(struct bench_shared *shared)
{
    struct endpoint *e = bench_object(shared, 0);
    uint64_t words = shared->words;
    struct message m = {0};
    endpoint_receive(e, &m);
    for (;;) {
        shared->end = machine_clock.end();
        endpoint_reply_receive(e, words, &m);
    }
}

// Back to the client: the server reads the clock before its reply.
static int64_t reply_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct endpoint *e = bench_object(shared, 0);
    uint64_t words = shared->words;
    struct message m = {0};
    endpoint_call(e, words, &m);
    return (int64_t)(machine_clock.end() - shared->begin);
}

static void replying_server(struct bench_shared *shared)
{
    struct endpoint *e = bench_object(shared, 0);
    uint64_t words = shared->words;
    struct message m = {0};
    endpoint_receive(e, &m);
    for (;;) {
        shared->begin = machine_clock.begin();
        endpoint_reply_receive(e, words, &m);
    }
}

static int64_t send_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct endpoint *e = bench_object(shared, 0);
    uint64_t words = shared->words;
    struct message m = {0};
    uint64_t begin = machine_clock.begin();
    endpoint_send(e, words, &m);
    return (int64_t)(shared->end - begin);
}

static void receiver(struct bench_shared *shared)
{
    struct endpoint *e = bench_object(shared, 0);
    struct message m;
    for (;;) {
        endpoint_receive(e, &m);
        shared->end = machine_clock.end();
    }
}

#define CALL_SEQUENCE                                                                           \
    SEQUENCE("client: endpoint_call", "kernel: switch to peer", "peer: endpoint_reply_receive", \
             "kernel: switch to client")
#define TWO_USERS                                                                              \
    .sides = U_TO_U, .spaces = SAME_SPACE | CROSS_SPACE, .objects = {{OBJECT_endpoint, 0, 0}}, \
    .client_calls = 1, .peer_calls = 1, .switches = 2, .naming = BY_NOTHING
// `path` is the counter of the path that a message of this length takes, twice a turn; as in
// sel4bench, the server of short messages is passive.
#define CALL_CONTRACT(operation, what, length, path, start, finish)                      \
    .contract = {.key = "endpoint." operation ".words_" #length,                         \
                 .title = what " with " #length " words",                                \
                 .sequence = CALL_SEQUENCE,                                              \
                 .interval = "one_way",                                                  \
                 .from = start,                                                          \
                 .to = finish,                                                           \
                 .expect = EXPECT({"wakeups", 2}, {path, 2}),                            \
                 .params = PARAMS({"words", #length}),                                   \
                 .correction = "none"},                                                  \
    .words = (length), .passive = (length) <= MESSAGE_REGISTERS, .client_priority = 254, \
    .peer_priority = 254
#define CALL(length, path)                                                                         \
    {CALL_CONTRACT("call", "Call: client to server", length, path, "client: before endpoint_call", \
                   "peer: after endpoint_reply_receive"),                                          \
     TWO_USERS, .pass = call_pass, .peer = receiving_server}
#define REPLY(length, path)                                                               \
    {CALL_CONTRACT("reply_receive", "ReplyRecv: server to client", length, path,          \
                   "peer: before endpoint_reply_receive", "client: after endpoint_call"), \
     TWO_USERS, .pass = reply_pass, .peer = replying_server}
#define ROUND_TRIP(length, path)                                                                 \
    {.contract = {.key = "endpoint.round_trip.words_" #length,                                   \
                  .title = "Call and ReplyRecv: to the server and back, with " #length " words", \
                  .sequence = CALL_SEQUENCE,                                                     \
                  .interval = "round_trip",                                                      \
                  .from = "client: before endpoint_call",                                        \
                  .to = "client: after endpoint_call",                                           \
                  .expect = EXPECT({"wakeups", 2}, {path, 2}),                                   \
                  .params = PARAMS({"words", #length}),                                          \
                  .correction = "none"},                                                         \
     .words = (length),                                                                          \
     .passive = (length) <= MESSAGE_REGISTERS,                                                   \
     .client_priority = 254,                                                                     \
     .peer_priority = 254,                                                                       \
     TWO_USERS,                                                                                  \
     .turns = round_trip_turns,                                                                  \
     .peer = server}

// Each side's hart is idle while the other works: a turn is two interrupts and four switches, from
// and to the idle threads, which stay in the space that is loaded.
#define ROUND_TRIP_ELSEWHERE(length)                                                              \
    {.contract = {.key = "endpoint.round_trip.words_" #length,                                    \
                  .title = "Call and ReplyRecv: to a server on the other hart and back, " #length \
                           " words",                                                              \
                  .sequence = SEQUENCE("client: endpoint_call", "kernel: interrupt of idle",      \
                                       "kernel: switch to peer", "peer: endpoint_reply_receive",  \
                                       "kernel: interrupt of idle", "kernel: switch to client"),  \
                  .interval = "round_trip",                                                       \
                  .from = "client: before endpoint_call",                                         \
                  .to = "client: after endpoint_call",                                            \
                  .expect = EXPECT({"wakeups", 2}, {"slowpaths", 2}, {"ipis", 2},                 \
                                   {"space_switches", 0}),                                        \
                  .params = PARAMS({"words", #length}, {"placement", "other_cpu"}),               \
                  .correction = "none"},                                                          \
     .words = (length),                                                                           \
     .client_priority = 254,                                                                      \
     .peer_priority = 254,                                                                        \
     .sides = U_TO_U,                                                                             \
     .spaces = SAME_SPACE | CROSS_SPACE,                                                          \
     .naming = BY_NOTHING,                                                                        \
     .objects = {{OBJECT_endpoint, 0, 0}},                                                        \
     .client_calls = 1,                                                                           \
     .peer_calls = 1,                                                                             \
     .switches = 4,                                                                               \
     .interrupts = 2,                                                                             \
     .other_cpu = 1,                                                                              \
     .turns = round_trip_turns,                                                                   \
     .peer = server}

const struct circle endpoint_circles[] = {
#if CONFIG_SMP
    ROUND_TRIP_ELSEWHERE(0),
    ROUND_TRIP_ELSEWHERE(10),
#endif
    CALL(0, "fastpaths"),
    CALL(4, "fastpaths"),
    CALL(10, "slowpaths"),
    REPLY(0, "fastpaths"),
    REPLY(4, "fastpaths"),
    REPLY(10, "slowpaths"),
    ROUND_TRIP(0, "fastpaths"),
    ROUND_TRIP(10, "slowpaths"),
    {.contract = {.key = "endpoint.send.words_0",
                  .title = "Send to a more urgent receiver: until it runs",
                  .sequence = SEQUENCE("client: endpoint_send", "kernel: switch to peer",
                                       "peer: endpoint_receive", "kernel: switch to client"),
                  .interval = "one_way",
                  .from = "client: before endpoint_send",
                  .to = "peer: after endpoint_receive",
                  .expect = EXPECT({"wakeups", 1}),
                  .params = PARAMS({"words", "0"}),
                  .correction = "none"},
     TWO_USERS,
     .client_priority = 253,
     .peer_priority = 254,
     .pass = send_pass,
     .peer = receiver},
    END_OF_FAMILY,
};
