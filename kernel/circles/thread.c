// SPDX-License-Identifier: BSD-2-Clause
//
// Threads, by Zephyr's keys: yield between equals, and the life of a thread. In the latter the
// thread that is created, started, suspended, resumed or aborted is the shared's object 0, called
// "other". It runs on the peer's side, and the peer prepares it outside the interval, because a
// user thread cannot create a kernel thread.
#include "zephyr.h"

#ifndef USER_PROGRAM
#include "space.h"
#endif

PART void yield(struct props *p)
{
    (void)p;
    thread_yield();
}

static int64_t yield_pass(void *arg)
{
    return time_to_peer(arg, yield);
}

static void yield_peer(struct bench_shared *shared)
{
    stamp_after(shared, yield);
}

static void yield_turns(void *arg, uint64_t turns)
{
    repeat(arg, turns, yield);
}

static void yield_forever(struct bench_shared *shared)
{
    (void)shared;
    for (;;)
        thread_yield();
}

#define OTHER_PRIORITY (CLIENT_PRIORITY + 1)
#define PREPARER_PRIORITY (CLIENT_PRIORITY + 2)

typedef void body(struct bench_shared *shared);

// The arguments of thread_create() for a thread on the caller's side.
struct beginning {
    uint64_t entry, argument;
};

#ifdef USER_PROGRAM
extern void start_body(void); // start.S

static struct beginning begin_with(struct bench_shared *shared, body *function)
{
    (void)shared;
    return (struct beginning){(uint64_t)start_body, (uint64_t)function};
}
#else
static struct beginning begin_with(struct bench_shared *shared, body *function)
{
    return (struct beginning){(uint64_t)function, (uint64_t)shared};
}
#endif

static void create_other(struct bench_shared *shared, body *function, uint64_t priority)
{
    struct beginning beginning = begin_with(shared, function);
    thread_create(bench_object(shared, 0), beginning.entry, beginning.argument, priority);
}

static void note_start(struct bench_shared *shared)
{
    shared->end = machine_clock.end();
}

// A kernel thread may create a thread of a program, where that begins.
static struct beginning beginning_of_other(struct bench_shared *shared)
{
#if CONFIG_USERSPACE && !defined(USER_PROGRAM)
    if (shared->variant.peer_user)
        return (struct beginning){space_entry(), 0};
#endif
    return begin_with(shared, note_start);
}

static int64_t create_part(void *arg)
{
    struct thread *other = bench_object(arg, 0);
    struct beginning beginning = beginning_of_other(arg);
    uint64_t begin = machine_clock.begin();
    thread_create(other, beginning.entry, beginning.argument, OTHER_PRIORITY);
    int64_t value = (int64_t)(machine_clock.end() - begin);
    thread_abort(other);
    return value;
}

// The client asks, by the semaphore, for a thread that can be started: the peer makes it.
static void creator(struct bench_shared *shared)
{
    for (;;) {
        semaphore_take(bench_object(shared, 1), FOREVER);
        create_other(shared, note_start, OTHER_PRIORITY);
    }
}

static int64_t start_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct thread *other = bench_object(shared, 0);
    semaphore_give(bench_object(shared, 1));
    uint64_t begin = machine_clock.begin();
    thread_start(other);
    return (int64_t)(shared->end - begin);
}

static void suspend_forever(struct bench_shared *shared)
{
    struct thread *self = bench_object(shared, 0);
    for (;;) {
        shared->begin = machine_clock.begin();
        thread_suspend(self);
        shared->end = machine_clock.end();
    }
}

static void starter_once(struct bench_shared *shared)
{
    create_other(shared, suspend_forever, OTHER_PRIORITY);
    thread_start(bench_object(shared, 0));
    semaphore_take(bench_object(shared, 1), FOREVER);
}

static int64_t suspend_pass(void *arg)
{
    struct bench_shared *shared = arg;
    thread_resume(bench_object(shared, 0));
    return (int64_t)(machine_clock.end() - shared->begin);
}

static int64_t resume_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct thread *other = bench_object(shared, 0);
    uint64_t begin = machine_clock.begin();
    thread_resume(other);
    return (int64_t)(shared->end - begin);
}

// The client asks for a thread that is ready, and less urgent than itself.
static void starter(struct bench_shared *shared)
{
    for (;;) {
        semaphore_take(bench_object(shared, 1), FOREVER);
        create_other(shared, note_start, CLIENT_PRIORITY - 1);
        thread_start(bench_object(shared, 0));
    }
}

static int64_t abort_part(void *arg)
{
    struct thread *other = bench_object(arg, 0);
    semaphore_give(bench_object(arg, 1));
    uint64_t begin = machine_clock.begin();
    thread_abort(other);
    return (int64_t)(machine_clock.end() - begin);
}

#if CONFIG_SMP
static void spin(struct bench_shared *shared)
{
    __atomic_store_n(&shared->scratch[0], 1, __ATOMIC_RELEASE);
    for (;;)
        ;
}

// The other hart is idle but for the thread that is aborted.
static int64_t abort_running_part(void *arg)
{
    struct bench_shared *shared = arg;
    struct thread *other = bench_object(shared, 0);
    shared->scratch[0] = 0;
    create_other(shared, spin, CLIENT_PRIORITY);
    thread_start(other);
    while (__atomic_load_n(&shared->scratch[0], __ATOMIC_ACQUIRE) == 0)
        ;
    uint64_t begin = machine_clock.begin();
    thread_abort(other);
    return (int64_t)(machine_clock.end() - begin);
}
#endif

#define YIELD(key, title)                                                                      \
    CONTRACT(key, title, TO_AND_FRO("thread_yield", "thread_yield"), "one_way",                \
             "client: before thread_yield", "peer: after thread_yield", NULL, "clock reading", \
             "subtracted"),                                                                    \
        ONE_CALL_EACH, .sides = ALL_PAIRS, .client_priority = CLIENT_PRIORITY,                 \
        .peer_priority = CLIENT_PRIORITY, .pass = yield_pass, .peer = yield_peer
#define LIFE                                                                                   \
    .naming = BY_FROM, .client_priority = CLIENT_PRIORITY, .peer_priority = PREPARER_PRIORITY, \
    .objects = {{OBJECT_thread, 0, 0}, {OBJECT_semaphore, 0, 1}}
#define RESUMED_AND_SUSPENDED                                                             \
    SEQUENCE("client: thread_resume", "kernel: switch to other", "other: thread_suspend", \
             "kernel: switch to client")

const struct circle thread_circles[] = {
    {YIELD("thread.yield.preemptive.ctx",
           "Context switch by yield between preemptive threads of equal priority")},
    {YIELD("thread.yield.cooperative.ctx",
           "Context switch by yield between cooperative threads of equal priority"),
     .cooperative = 1},
    {.contract = {.key = "thread.yield.round_trip",
                  .title = "Two context switches by yield: to the peer and back",
                  .sequence = TO_AND_FRO("thread_yield", "thread_yield"),
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
    {CONTRACT("thread.create", "Create a thread, not started",
              SEQUENCE("client: thread_create", "client: thread_abort"), "half",
              "client: before thread_create", "client: after thread_create", NULL, "clock reading",
              "subtracted"),
     LIFE, .sides = K_TO_K | K_TO_U | U_TO_U, .client_calls = 2, .pass = create_part},
    {CONTRACT("thread.start", "Start a more urgent thread: until it runs",
              SEQUENCE("client: semaphore_give", "kernel: switch to peer", "peer: thread_create",
                       "peer: semaphore_take", "kernel: switch to client", "client: thread_start",
                       "kernel: switch to other", "other: thread_abort",
                       "kernel: switch to client"),
              "one_way", "client: before thread_start", "other: its first statement",
              EXPECT({"wakeups", 1}), "clock reading", "subtracted"),
     LIFE, .sides = ALL_PAIRS, .client_calls = 2, .peer_calls = 3, .switches = 4,
     .pass = start_pass, .peer = creator},
    {CONTRACT("thread.suspend", "Suspend oneself: until a less urgent thread runs",
              RESUMED_AND_SUSPENDED, "one_way", "other: before thread_suspend",
              "client: after thread_resume", NULL, "clock reading", "subtracted"),
     LIFE, .sides = ALL_PAIRS, .client_calls = 1, .peer_calls = 1, .switches = 2,
     .pass = suspend_pass, .peer = starter_once},
    {CONTRACT("thread.resume", "Resume a more urgent thread: until it runs", RESUMED_AND_SUSPENDED,
              "one_way", "client: before thread_resume", "other: after thread_suspend", NULL,
              "clock reading", "subtracted"),
     LIFE, .sides = ALL_PAIRS, .client_calls = 1, .peer_calls = 1, .switches = 2,
     .pass = resume_pass, .peer = starter_once},
    {CONTRACT("thread.abort", "Abort a ready, less urgent thread",
              SEQUENCE("client: semaphore_give", "kernel: switch to peer", "peer: thread_create",
                       "peer: thread_start", "peer: semaphore_take", "kernel: switch to client",
                       "client: thread_abort"),
              "half", "client: before thread_abort", "client: after thread_abort",
              EXPECT({"wakeups", 1}), "clock reading", "subtracted"),
     LIFE, .sides = ALL_PAIRS, .client_calls = 2, .peer_calls = 3, .switches = 2,
     .pass = abort_part, .peer = starter},
#if CONFIG_SMP
    {.contract = {.key = "thread.abort.running",
                  .title = "Abort a thread that runs on the other hart: until it is gone",
                  .sequence = SEQUENCE("client: thread_create", "client: thread_start",
                                       "kernel: interrupt of idle", "kernel: switch to other",
                                       "client: thread_abort", "kernel: interrupt of other",
                                       "kernel: switch to idle"),
                  .interval = "half",
                  .from = "client: before thread_abort",
                  .to = "client: after thread_abort",
                  .expect = EXPECT({"ipis", 2}),
                  .params = PARAMS({"placement", "other_cpu"}),
                  .correction = "clock reading"},
     LIFE,
     .sides = K_TO_K | U_TO_U,
     .client_calls = 3,
     .switches = 2,
     .interrupts = 2,
     .other_cpu = 1,
     .pass = abort_running_part},
#endif
    END_OF_FAMILY,
};
