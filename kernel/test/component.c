// SPDX-License-Identifier: BSD-2-Clause
//
// Components: threads that migrate, and upcalls. Protection domains.
#include "riscv.h"
#include "space.h"
#include "test.h"

#if CONFIG_USERSPACE
static struct object *objects[4]; // components 1 and 2, semaphore 3

static void make_objects(void)
{
    objects[0] = test_object(OBJECT_component, 0, 0);
    objects[1] = test_object(OBJECT_component, 0, 0);
    objects[2] = test_object(OBJECT_semaphore, 0, 1);
}

static struct thread *run(enum program program)
{
    return test_program(program, RUNNER_PRIORITY + 1, objects);
}

static void arguments_and_result_pass(void)
{
    make_objects();
    uint64_t invocations = counter_read(COUNT_invocations),
             switches = counter_read(COUNT_space_switches);
    run(PROGRAM_open_and_invoke_weigher);
    CHECK_EQUAL(test_shared()[1], 1234);
    CHECK_EQUAL(counter_read(COUNT_invocations) - invocations, 1);
    make_objects();
    run(PROGRAM_open_weigher);
    switches = counter_read(COUNT_space_switches);
    struct thread *t = run(PROGRAM_invoke_weigher);
    CHECK_EQUAL(test_shared()[1], 1234);
    CHECK_EQUAL(counter_read(COUNT_space_switches) - switches,
                3); // to the program, to the component, and back
    CHECK_EQUAL(t->fault, 0);
}

static void bad_capabilities_are_refused(void)
{
    make_objects();
    CHECK_EQUAL(run(PROGRAM_misuse_capabilities)->fault, 0);
    CHECK_EQUAL(test_shared()[1], 1);
}

static void invocations_nest_up_to_their_limit(void)
{
    make_objects();
    run(PROGRAM_open_first);
    CHECK_EQUAL(run(PROGRAM_descend)->fault, 0);
    CHECK_EQUAL(test_shared()[1], INVOCATIONS_MAX);
    CHECK_EQUAL(test_shared()[2], 0);
}

static void death_inside_leaves_the_component_usable(void)
{
    make_objects();
    run(PROGRAM_open_mortal);
    for (int i = 0; i < 2; i++) {
        struct thread *t = run(PROGRAM_invoke_weigher);
        CHECK_EQUAL(t->state, THREAD_DEAD);
        CHECK_EQUAL(t->fault, CAUSE_LOAD_PAGE_FAULT);
        CHECK(t->space == t->migration.home);
    }
}

static void thread_can_wait_inside(void)
{
    make_objects();
    run(PROGRAM_open_waiting);
    struct thread *t = run(PROGRAM_invoke_weigher);
    CHECK_EQUAL(t->state, THREAD_BLOCKED);
    semaphore_give((struct semaphore *)objects[2]);
    CHECK_EQUAL(test_shared()[1], 42);
}

static void thread_can_be_preempted_inside(void)
{
    make_objects();
    run(PROGRAM_open_spinning);
    struct thread *t = test_program(PROGRAM_invoke_weigher, RUNNER_PRIORITY - 1, objects);
    for (int i = 0; i < 5; i++)
        thread_sleep(100);
    test_shared()[0] = 1;
    thread_sleep(100);
    CHECK_EQUAL(t->state, THREAD_DEAD);
    CHECK_EQUAL(t->fault, 0);
    CHECK((int64_t)test_shared()[1] > 0);
}

static void thread_can_be_aborted_inside(void)
{
    make_objects();
    run(PROGRAM_open_waiting);
    struct thread *t = run(PROGRAM_invoke_weigher);
    thread_abort(t);
    CHECK(t->space == t->migration.home);
    CHECK_EQUAL(t->migration.depth, 0);
    semaphore_give((struct semaphore *)objects[2]);
    CHECK_EQUAL(test_shared()[1], 0);
}

static void component_need_not_keep_registers(void)
{
    make_objects();
    CHECK_EQUAL(run(PROGRAM_invoke_spoiler)->fault, 0);
    CHECK_EQUAL(test_shared()[1], 1);
}

static struct thread *run_with_spare(enum program program)
{
    struct thread *t = test_program_created(program, RUNNER_PRIORITY + 1, objects);
    test_spare(t, SPARE);
    thread_start(t);
    return t;
}

static void upcall_runs_and_returns(void)
{
    make_objects();
    uint64_t upcalls = counter_read(COUNT_upcalls);
    CHECK_EQUAL(run_with_spare(PROGRAM_upcall)->fault, 0);
    CHECK_EQUAL(test_shared()[1], 1);
    CHECK_EQUAL(test_shared()[2], UPCALL_BOOTSTRAP);
    CHECK_EQUAL(test_shared()[3], 77);
    CHECK_EQUAL(test_shared()[4], 3);
    CHECK_EQUAL(counter_read(COUNT_upcalls) - upcalls, 3);
}

static void caller_outlives_its_upcall(void)
{
    make_objects();
    struct thread *t = run_with_spare(PROGRAM_upcall_that_dies);
    thread_sleep(100);
    CHECK_EQUAL(test_shared()[1], 1);
    CHECK_EQUAL(t->state, THREAD_DEAD);
    CHECK_EQUAL(t->fault, 0);
}

// The client is the more urgent: both of its signals are there when the domain receives.
static void domain_serves_its_channels(void)
{
    struct notification *n = test_object(OBJECT_notification, 0, 0);
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    objects[0] = &e->object;
    objects[1] = objects[2] = &n->object;
    notification_bind(n, e);
    struct thread *server =
        test_program_created(PROGRAM_serve_channels, RUNNER_PRIORITY + 1, objects);
    run(PROGRAM_use_channels);
    thread_start(server);
    CHECK_EQUAL(test_shared()[1], 1233);
    CHECK_EQUAL(test_shared()[2], 2);
    CHECK_EQUAL(test_shared()[3], 66);
}

const struct test component_tests[] = {
    {"an invocation passes arguments and result", arguments_and_result_pass},
    {"bad capabilities are refused", bad_capabilities_are_refused},
    {"invocations nest up to their limit", invocations_nest_up_to_their_limit},
    {"a death inside leaves the component usable", death_inside_leaves_the_component_usable},
    {"a thread can wait inside a component", thread_can_wait_inside},
    {"a thread can be preempted inside a component", thread_can_be_preempted_inside},
    {"a thread can be aborted inside a component", thread_can_be_aborted_inside},
    {"a component need not keep registers", component_need_not_keep_registers},
    {"an upcall runs and returns", upcall_runs_and_returns},
    {"a caller outlives its upcall", caller_outlives_its_upcall},
    {"a protection domain serves its channels", domain_serves_its_channels},
    END_OF_TESTS,
};
#endif
