// SPDX-License-Identifier: BSD-2-Clause
//
// Components, after Composite: a thread that goes into one and comes back, and a thread that one is
// given by the kernel.
#include "bench/kernel_circle.h"

#define COMPONENT 0
#define THREAD 1

#ifdef USER_PROGRAM
#include "user/component.h"

static uint64_t do_nothing(void)
{
    return 0;
}
COMPONENT_ENTRY(entry, do_nothing)

static void open(struct bench_shared *shared)
{
    component_open(bench_object(shared, COMPONENT), (uint64_t)entry, (uint64_t)entry);
}

static void open_with_thread(struct bench_shared *shared)
{
    open(shared);
    thread_create(bench_object(shared, THREAD), (uint64_t)entry, 0, 0);
}

static void invoke_turns(void *arg, uint64_t turns)
{
    struct component *component = bench_object(arg, COMPONENT);
    for (; turns > 0; turns--)
        component_invoke(component, 0, 0, 0, 0);
}

static void upcall_turns(void *arg, uint64_t turns)
{
    struct component *component = bench_object(arg, COMPONENT);
    struct thread *thread = bench_object(arg, THREAD);
    for (; turns > 0; turns--)
        component_upcall(component, thread, 0);
}
#endif

#define TO_COMPONENT                                                           \
    .sides = U_TO_U, .spaces = SAME_SPACE | CROSS_SPACE, .naming = BY_NOTHING, \
    .client_priority = 10, .peer_priority = 11

const struct circle component_circles[] = {
    {.contract = {.key = "component.invoke",
                  .title = "Invocation of a component by thread migration, and return",
                  .sequence = SEQUENCE("client: component_invoke", "client: component_return"),
                  .interval = "round_trip",
                  .from = "client: before component_invoke",
                  .to = "client: after component_invoke",
                  .expect = EXPECT({"invocations", 1}),
                  .correction = "none"},
     TO_COMPONENT,
     .objects = {{OBJECT_component, 0, 0}},
     .turns = IN_USER(invoke_turns),
     .peer = IN_USER(open),
     .client_calls = 2,
     .moves = 2},
    {.contract =
         {.key = "component.upcall",
          .title =
              "Upcall: a thread is started in a component, does nothing, and the caller runs on",
          .sequence = SEQUENCE("client: component_upcall", "kernel: switch to other",
                               "other: component_return", "kernel: switch to client"),
          .interval = "round_trip",
          .from = "client: before component_upcall",
          .to = "client: after component_upcall",
          .expect = EXPECT({"upcalls", 1}),
          .correction = "none"},
     TO_COMPONENT,
     .objects = {{OBJECT_component, 0, 0}, {OBJECT_thread, 0, 0}},
     .turns = IN_USER(upcall_turns),
     .peer = IN_USER(open_with_thread),
     .client_calls = 2,
     .switches = 2},
    END_OF_FAMILY,
};
