// SPDX-License-Identifier: BSD-2-Clause
//
// Brands, after Composite: each outcome of raising one. The scheduler and its component are the
// peer's program, which also is where upcalls run, unless the scheduler is to decide: then they run
// in the client's.
#include "bench/kernel_circle.h"

#define SCHEDULER 0
#define SCHEDULER_COMPONENT 1
#define COMPONENT 2
#define BRAND 3
#define UPCALL 4
#define NOTIFIER 5
#define CLIENT_SLOT 1
#define UPCALL_SLOT 2
#define NOTIFIER_SLOT 3
#define CLIENT_URGENCY 5
#define MORE_URGENT 1
#define LESS_URGENT 10
#define PLENTY 10000000

#ifdef USER_PROGRAM
#include "user/fixed_priority.h"

#define PAGE ((struct scheduler_page *)USER_SCHEDULERS)

static uint64_t do_nothing(void)
{
    return 0;
}
COMPONENT_ENTRY(entry, do_nothing)
COMPONENT_ENTRY(scheduler_entry, fixed_priority_upcall)

static inline void switch_to(struct bench_shared *shared, uint64_t slot)
{
    PAGE->next = slot;
    scheduler_switch(bench_object(shared, SCHEDULER), SWITCH_PLAIN);
}

// An upcall that gives the processor back in its middle, and whose end is timed to the beginning of
// the next.
static uint64_t timed_upcall(void)
{
    struct bench_shared *shared = (struct bench_shared *)USER_SHARED;
    shared->end = machine_clock.end();
    switch_to(shared, CLIENT_SLOT);
    shared->begin = machine_clock.begin();
    return 0;
}
COMPONENT_ENTRY(timed_entry, timed_upcall)

// An upcall that tells when it began and when it was about to end.
static uint64_t stamped_upcall(void)
{
    struct bench_shared *shared = (struct bench_shared *)USER_SHARED;
    shared->end = machine_clock.end();
    shared->begin = machine_clock.begin();
    return 0;
}
COMPONENT_ENTRY(stamped_entry, stamped_upcall)

static void start_scheduler(struct bench_shared *shared, uint64_t urgency)
{
    struct user_scheduler *s = bench_object(shared, SCHEDULER);
    fixed_priority_start(s, 0);
    fixed_priority_add(CLIENT_SLOT, CLIENT_URGENCY, 1);
    fixed_priority_add(UPCALL_SLOT, urgency, 0);
    component_open(bench_object(shared, SCHEDULER_COMPONENT), 0, (uint64_t)scheduler_entry);
    thread_create(bench_object(shared, UPCALL), (uint64_t)entry, 0, 0);
    thread_create(bench_object(shared, NOTIFIER), (uint64_t)entry, 0, 0);
    scheduler_adopt(s, bench_object(shared, UPCALL), UPCALL_SLOT);
    scheduler_adopt(s, bench_object(shared, NOTIFIER), NOTIFIER_SLOT);
    scheduler_attend(s, bench_object(shared, SCHEDULER_COMPONENT), bench_object(shared, NOTIFIER));
}

static void bind(struct bench_shared *shared, void (*upcall_entry)(void))
{
    component_open(bench_object(shared, COMPONENT), 0, (uint64_t)upcall_entry);
    brand_bind(bench_object(shared, BRAND), bench_object(shared, UPCALL), 0);
}

static void less_urgent_upcalls(struct bench_shared *shared)
{
    start_scheduler(shared, LESS_URGENT);
    bind(shared, entry);
}

static void more_urgent_upcalls(struct bench_shared *shared)
{
    start_scheduler(shared, MORE_URGENT);
    bind(shared, entry);
}

static void stamped_upcalls(struct bench_shared *shared)
{
    start_scheduler(shared, MORE_URGENT);
    bind(shared, stamped_entry);
}

static void timed_upcalls(struct bench_shared *shared)
{
    start_scheduler(shared, LESS_URGENT);
    bind(shared, timed_entry);
}

static void less_urgent_scheduler(struct bench_shared *shared)
{
    start_scheduler(shared, LESS_URGENT);
}

static void more_urgent_scheduler(struct bench_shared *shared)
{
    start_scheduler(shared, MORE_URGENT);
}

static void join(struct bench_shared *shared)
{
    scheduler_map(bench_object(shared, SCHEDULER));
    scheduler_join(bench_object(shared, SCHEDULER), CLIENT_SLOT);
}

static void join_and_bind(struct bench_shared *shared)
{
    join(shared);
    bind(shared, entry);
}

static void join_and_raise(struct bench_shared *shared)
{
    join(shared);
    brand_upcall(bench_object(shared, BRAND), 0, 0);
}

static void raise_turns(void *arg, uint64_t turns)
{
    struct brand *brand = bench_object(arg, BRAND);
    for (; turns > 0; turns--)
        brand_upcall(brand, 0, 0);
}

static int64_t to_upcall_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct brand *brand = bench_object(shared, BRAND);
    uint64_t begin = machine_clock.begin();
    brand_upcall(brand, 0, 0);
    return (int64_t)(shared->end - begin);
}

static int64_t from_upcall_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct brand *brand = bench_object(shared, BRAND);
    brand_upcall(brand, 0, 0);
    return (int64_t)(machine_clock.end() - shared->begin);
}

// The upcall runs behind the interval, so that the brand can be raised anew.
static int64_t raise_pass(void *arg)
{
    struct bench_shared *shared = arg;
    struct brand *brand = bench_object(shared, BRAND);
    uint64_t begin = machine_clock.begin();
    brand_upcall(brand, 0, 0);
    int64_t passed = (int64_t)(machine_clock.end() - begin);
    switch_to(shared, UPCALL_SLOT);
    return passed;
}

static int64_t execute_pass(void *arg)
{
    struct bench_shared *shared = arg;
    switch_to(shared, UPCALL_SLOT);
    return (int64_t)(shared->end - shared->begin);
}
#endif

#define CAST(mediated, pending)                                                                \
    .sides = U_TO_U, .naming = BY_NOTHING, .client_priority = 10, .peer_priority = 11,         \
    .objects = {                                                                               \
        {OBJECT_user_scheduler, 0, 0},     {OBJECT_component, 0, 0}, {OBJECT_component, 0, 0}, \
        {OBJECT_brand, mediated, pending}, {OBJECT_thread, 0, 0},    {OBJECT_thread, 0, 0},    \
    }
#define IMMEDIATE                                                                            \
    .expect = EXPECT({"brand_uc", 1}, {"brand_sched_preempted", 1}, {"finished_brands", 1}), \
    .sequence = SEQUENCE("client: brand_upcall", "kernel: switch to upcall",                 \
                         "upcall: component_return", "kernel: switch to client")
// What this row counts happens in part outside its interval.
#define DRAINED .params = PARAMS({"drain", "outside the interval"})
#define BOTH_SPACES .spaces = SAME_SPACE | CROSS_SPACE
#define DRAIN                                                                           \
    "client: scheduler_switch", "kernel: switch to upcall", "upcall: component_return", \
        "upcall: scheduler_switch", "kernel: switch to client"

const struct circle brand_circles[] = {
    {.contract = {.key = "brand.upcall.pend",
                  .title = "Brand raised while its upcall is active: counted as pending",
                  .sequence = SEQUENCE("client: brand_upcall"),
                  .interval = "round_trip",
                  .from = "client: before brand_upcall",
                  .to = "client: after brand_upcall",
                  .expect = EXPECT({"brand_pend", 1}),
                  .correction = "none"},
     CAST(0, 0),
     .peer = IN_USER(less_urgent_upcalls),
     .prepare = IN_USER(join_and_raise),
     .turns = IN_USER(raise_turns),
     .client_calls = 1},
    {.contract = {.key = "brand.upcall.delayed",
                  .title = "Brand raised whose upcall is less urgent: left to the scheduler",
                  .sequence = SEQUENCE("client: brand_upcall", DRAIN),
                  .interval = "one_way",
                  .from = "client: before brand_upcall",
                  .to = "client: after brand_upcall",
                  .expect = EXPECT({"brand_delayed", 1}, {"brand_completion_uc", 1},
                                   {"finished_brands", 1}, {"switch_coop", 2}),
                  DRAINED,
                  .correction = "none"},
     CAST(0, 0),
     .peer = IN_USER(less_urgent_upcalls),
     .prepare = IN_USER(join),
     .pass = IN_USER(raise_pass),
     .client_calls = 4,
     .switches = 2},
    {.contract = {.key = "brand.upcall.immediate",
                  .title =
                      "Brand raised whose upcall is more urgent: run at once, and direct return",
                  IMMEDIATE,
                  .interval = "round_trip",
                  .from = "client: before brand_upcall",
                  .to = "client: after brand_upcall",
                  .correction = "none"},
     CAST(0, 0),
     BOTH_SPACES,
     .peer = IN_USER(more_urgent_upcalls),
     .prepare = IN_USER(join),
     .turns = IN_USER(raise_turns),
     .client_calls = 2,
     .switches = 2},
    {.contract = {.key = "brand.upcall.immediate.start",
                  .title = "Brand raised whose upcall is more urgent: until that runs",
                  IMMEDIATE,
                  .interval = "one_way",
                  .from = "client: before brand_upcall",
                  .to = "upcall: at its beginning",
                  .correction = "none"},
     CAST(0, 0),
     BOTH_SPACES,
     .peer = IN_USER(stamped_upcalls),
     .prepare = IN_USER(join),
     .pass = IN_USER(to_upcall_pass),
     .client_calls = 2,
     .switches = 2},
    {.contract = {.key = "brand.upcall.immediate.complete",
                  .title =
                      "End of an upcall that ran at once: until the interrupted thread runs on",
                  IMMEDIATE,
                  .interval = "one_way",
                  .from = "upcall: before its end",
                  .to = "client: after brand_upcall",
                  .correction = "none"},
     CAST(0, 0),
     BOTH_SPACES,
     .peer = IN_USER(stamped_upcalls),
     .prepare = IN_USER(join),
     .pass = IN_USER(from_upcall_pass),
     .client_calls = 2,
     .switches = 2},
    {.contract = {.key = "brand.execute_pending",
                  .title = "End of an upcall with another one pending: until that begins",
                  .sequence = SEQUENCE("client: scheduler_switch", "kernel: switch to upcall",
                                       "upcall: component_return", "upcall: scheduler_switch",
                                       "kernel: switch to client"),
                  .interval = "one_way",
                  .from = "upcall: before its end",
                  .to = "upcall: at its beginning",
                  .expect = EXPECT({"brand_pend_execute", 1}, {"switch_coop", 2}),
                  DRAINED,
                  .correction = "none"},
     CAST(0, PLENTY),
     .peer = IN_USER(timed_upcalls),
     .prepare = IN_USER(join_and_raise),
     .pass = IN_USER(execute_pass),
     .client_calls = 3,
     .switches = 2},
    {.contract =
         {.key = "brand.upcall.mediated.run_now",
          .title = "Brand raised, the scheduler asked: it runs the upcall, and sees that it ended",
          .sequence = SEQUENCE("client: brand_upcall", "kernel: switch to notifier",
                               "notifier: scheduler_switch", "kernel: switch to upcall",
                               "upcall: component_return", "upcall: scheduler_switch",
                               "kernel: switch to client"),
          .interval = "round_trip",
          .from = "client: before brand_upcall",
          .to = "client: after brand_upcall",
          .expect = EXPECT({"brand_completion_uc", 1}, {"finished_brands", 1}, {"switch_coop", 2}),
          .correction = "none"},
     CAST(1, 0),
     BOTH_SPACES,
     .peer = IN_USER(more_urgent_scheduler),
     .prepare = IN_USER(join_and_bind),
     .turns = IN_USER(raise_turns),
     .client_calls = 4,
     .switches = 3,
     .moves = 1},
    {.contract = {.key = "brand.upcall.mediated.declined",
                  .title = "Brand raised, the scheduler asked: it goes back to who raised it",
                  .sequence =
                      SEQUENCE("client: brand_upcall", "kernel: switch to notifier",
                               "notifier: scheduler_switch", "kernel: switch to client", DRAIN),
                  .interval = "one_way",
                  .from = "client: before brand_upcall",
                  .to = "client: after brand_upcall",
                  .expect = EXPECT({"brand_completion_uc", 1}, {"finished_brands", 1},
                                   {"switch_coop", 3}),
                  DRAINED,
                  .correction = "none"},
     CAST(1, 0),
     BOTH_SPACES,
     .peer = IN_USER(less_urgent_scheduler),
     .prepare = IN_USER(join_and_bind),
     .pass = IN_USER(raise_pass),
     .client_calls = 5,
     .switches = 4},
    END_OF_FAMILY,
};
