// SPDX-License-Identifier: BSD-2-Clause
//
// Scheduling by user programs, after Composite: what the kernel's part of a thread switch costs,
// what the scheduler's structures and the accounting of time add, and the scheduler's lock where
// nobody else wants it.
#include "bench/kernel_circle.h"

#define SCHEDULER 0
#define CLIENT_SLOT 1
#define OTHER_SLOT 2
#define URGENCY 5

#ifdef USER_PROGRAM
#include "user/fixed_priority.h"
#include "user/lock.h"

#define PAGE ((struct scheduler_page *)USER_SCHEDULERS)

static inline void switch_to(struct user_scheduler *s, uint64_t slot)
{
    PAGE->next = slot;
    scheduler_switch(s, SWITCH_PLAIN);
}

static void bare_turns(void *arg, uint64_t turns)
{
    struct user_scheduler *s = bench_object(arg, SCHEDULER);
    for (; turns > 0; turns--)
        switch_to(s, OTHER_SLOT);
}

static void bare_other(void)
{
    struct user_scheduler *s = bench_object((struct bench_shared *)USER_SHARED, SCHEDULER);
    for (;;)
        switch_to(s, CLIENT_SLOT);
}
COMPONENT_ENTRY(bare_entry, bare_other)

static void queued_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        fixed_priority_yield(CLIENT_SLOT);
}

static void queued_other(void)
{
    for (;;)
        fixed_priority_yield(OTHER_SLOT);
}
COMPONENT_ENTRY(queued_entry, queued_other)

// The other thread, which the runner makes behind the schedulers, gets its place with the first
// `levels` of them.
static void adopt_other(struct bench_shared *shared, unsigned levels, void (*entry)(void))
{
    struct thread *other = bench_object(shared, levels);
    thread_create(other, (uint64_t)entry, 0, 0);
    for (unsigned level = 0; level < levels; level++) {
        scheduler_map(bench_object(shared, level));
        scheduler_adopt(bench_object(shared, level), other, OTHER_SLOT);
    }
}

static void join(struct bench_shared *shared)
{
    scheduler_map(bench_object(shared, SCHEDULER));
    scheduler_join(bench_object(shared, SCHEDULER), CLIENT_SLOT);
}

static void bare_peer(struct bench_shared *shared)
{
    adopt_other(shared, 1, bare_entry);
}

static void queued_peer(struct bench_shared *shared)
{
    fixed_priority_start(bench_object(shared, SCHEDULER), 0);
    adopt_other(shared, 1, queued_entry);
    fixed_priority_add(CLIENT_SLOT, URGENCY, 1);
    fixed_priority_add(OTHER_SLOT, URGENCY, 1);
}

#if CONFIG_ACCOUNTING
static void join_accounted(struct bench_shared *shared)
{
    for (unsigned level = 0; level < shared->words; level++)
        scheduler_join(bench_object(shared, level), CLIENT_SLOT);
    scheduler_account(bench_object(shared, SCHEDULER), OTHER_SLOT, 1);
    scheduler_account(bench_object(shared, SCHEDULER), CLIENT_SLOT, 1);
}

static void accounted_peer(struct bench_shared *shared)
{
    adopt_other(shared, shared->words, bare_entry);
}
#endif

static void map_page(struct bench_shared *shared)
{
    fixed_priority_start(bench_object(shared, SCHEDULER), 0);
}

#define LOCK_FUNCTIONS(way)                                       \
    static int64_t take_##way(void *arg)                          \
    {                                                             \
        (void)arg;                                                \
        uint64_t begin = machine_clock.begin();                   \
        lock_take_##way(&PAGE->lock, CLIENT_SLOT);                \
        int64_t passed = (int64_t)(machine_clock.end() - begin);  \
        lock_release_##way(&PAGE->lock);                          \
        return passed;                                            \
    }                                                             \
    static void take_and_release_##way(void *arg, uint64_t turns) \
    {                                                             \
        (void)arg;                                                \
        for (; turns > 0; turns--) {                              \
            lock_take_##way(&PAGE->lock, CLIENT_SLOT);            \
            lock_release_##way(&PAGE->lock);                      \
        }                                                         \
    }
LOCK_FUNCTIONS(restartable)
LOCK_FUNCTIONS(reserved)
LOCK_FUNCTIONS(swap)
#endif

#define SWITCH(condition, what, spaces_, turns_, peer_, prepare_, ...)                         \
    {.contract = {.key = "scheduler.switch." condition,                                        \
                  .title = "Thread switch by a user-level scheduler and back, " what,          \
                  .sequence = SEQUENCE("client: scheduler_switch", "kernel: switch to other",  \
                                       "other: scheduler_switch", "kernel: switch to client"), \
                  .interval = "round_trip",                                                    \
                  .from = "client: before its switch",                                         \
                  .to = "client: after its switch",                                            \
                  .expect = EXPECT({"switch_coop", 2}),                                        \
                  .correction = "none"},                                                       \
     .sides = U_TO_U,                                                                          \
     .spaces = (spaces_),                                                                      \
     .naming = BY_NOTHING,                                                                     \
     .client_priority = 10,                                                                    \
     .peer_priority = 11,                                                                      \
     .client_calls = 2,                                                                        \
     .switches = 2,                                                                            \
     .turns = IN_USER(turns_),                                                                 \
     .peer = IN_USER(peer_),                                                                   \
     .prepare = IN_USER(prepare_),                                                             \
     __VA_ARGS__}
#define ONE_LEVEL .objects = {{OBJECT_user_scheduler, 0, 0}, {OBJECT_thread, 0, 0}}
#define ACCOUNTED(levels, text, ...)                                                            \
    SWITCH("accounted.levels_" #levels, "time charged to " text, 0, bare_turns, accounted_peer, \
           join_accounted, .words = (levels), .objects = {__VA_ARGS__, {OBJECT_thread, 0, 0}})
#define LEVEL(n) {OBJECT_user_scheduler, n, 0}

#define LOCK(way, condition, what)                                                                 \
    {.contract = {.key = "scheduler.lock." condition ".take",                                      \
                  .title = "Taking of a scheduler's free lock, " what,                             \
                  .sequence = SEQUENCE(NULL),                                                      \
                  .interval = "one_way",                                                           \
                  .from = "client: before the taking",                                             \
                  .to = "client: after the taking",                                                \
                  .correction = "none"},                                                           \
     LOCKING,                                                                                      \
     .pass = IN_USER(take_##way)},                                                                 \
    {                                                                                              \
        .contract = {.key = "scheduler.lock." condition ".take+release",                           \
                     .title =                                                                      \
                         "Taking and release of a scheduler's lock that nobody else wants, " what, \
                     .sequence = SEQUENCE(NULL),                                                   \
                     .interval = "round_trip",                                                     \
                     .from = "client: before the taking",                                          \
                     .to = "client: after the release",                                            \
                     .correction = "none"},                                                        \
        LOCKING, .turns = IN_USER(take_and_release_##way)                                          \
    }
#define LOCKING                                                                            \
    .sides = USER_ALONE, .naming = BY_NOTHING, .objects = {{OBJECT_user_scheduler, 0, 0}}, \
    .client_priority = 10, .prepare = IN_USER(map_page)

const struct circle scheduler_circles[] = {
    SWITCH("bare", "without a scheduler's structures", SAME_SPACE | CROSS_SPACE, bare_turns,
           bare_peer, join, ONE_LEVEL),
    SWITCH("run_queue", "with run queue, events and lock", 0, queued_turns, queued_peer, join,
           ONE_LEVEL),
#if CONFIG_ACCOUNTING
    ACCOUNTED(1, "one scheduler", LEVEL(0)),
    ACCOUNTED(2, "two levels of schedulers", LEVEL(0), LEVEL(1)),
    ACCOUNTED(3, "three levels of schedulers", LEVEL(0), LEVEL(1), LEVEL(2)),
    ACCOUNTED(4, "four levels of schedulers", LEVEL(0), LEVEL(1), LEVEL(2), LEVEL(3)),
    SWITCH("run_queue.accounted", "with run queue, events and lock, time charged to it", 0,
           queued_turns, queued_peer, join_accounted, ONE_LEVEL, .words = 1),
#endif
    LOCK(restartable, "restartable", "by a section that the kernel restarts"),
    LOCK(reserved, "lr_sc", "by load-reserved and store-conditional"),
    LOCK(swap, "amo", "by an atomic memory operation"),
    END_OF_FAMILY,
};
