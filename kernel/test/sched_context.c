// SPDX-License-Identifier: BSD-2-Clause
//
// Scheduling contexts: budgets, refills, and passive servers.
#include "sched.h"
#include "test.h"
#include "timeout.h"

#if CONFIG_MCS
#define TOLERANCE_TICKS 40

static volatile uint64_t spins;

static void spin(void *argument)
{
    (void)argument;
    for (;;)
        spins++;
}

static int near(uint64_t seen, uint64_t expected)
{
    return seen + TOLERANCE_TICKS >= expected && seen <= expected + TOLERANCE_TICKS;
}

static void budget_bounds_the_share(void)
{
    struct thread *t = test_thread_created(spin, NULL, RUNNER_PRIORITY + 1);
    thread_set_budget(t, 300, 1000);
    thread_start(t); // comes back here when the budget is used up
    CHECK_EQUAL(t->state, THREAD_DEPLETED);
    CHECK(near(t->own_sched_context.consumed_ticks, 300));
    thread_sleep(10000);
    CHECK(near(t->own_sched_context.consumed_ticks, 3300) ||
          near(t->own_sched_context.consumed_ticks, 3000));
}

static void unused_budget_is_not_saved_up(void)
{
    struct thread *t = test_thread_created(spin, NULL, RUNNER_PRIORITY - 1);
    thread_set_budget(t, 300, 1000);
    thread_sleep(10000);
    thread_start(t);
    thread_sleep(900);
    CHECK(near(t->own_sched_context.consumed_ticks, 300));
}

static void depleted_thread_lets_the_less_urgent_run(void)
{
    struct thread *urgent = test_thread_created(spin, NULL, RUNNER_PRIORITY + 2);
    struct thread *other = test_thread_created(spin, NULL, RUNNER_PRIORITY + 1);
    thread_set_budget(urgent, 700, 1000);
    thread_set_budget(other, 200, 1000);
    uint64_t held = preemption_hold();
    thread_start(urgent);
    thread_start(other);
    preemption_release(held);
    thread_sleep(20000);
    uint64_t urgent_ticks = urgent->own_sched_context.consumed_ticks,
             other_ticks = other->own_sched_context.consumed_ticks;
    CHECK(urgent_ticks > 13000 && urgent_ticks < 15500);
    CHECK(other_ticks > 3600 && other_ticks < 4500);
}

static void round_robin_takes_turns(void)
{
    struct thread *a = test_thread_created(spin, NULL, RUNNER_PRIORITY - 1);
    struct thread *b = test_thread_created(spin, NULL, RUNNER_PRIORITY - 1);
    thread_set_budget(a, 100, 100);
    thread_set_budget(b, 300, 300);
    thread_start(a);
    thread_start(b);
    thread_sleep(8000);
    CHECK(a->own_sched_context.consumed_ticks > 1800 && a->own_sched_context.consumed_ticks < 2200);
    CHECK(b->own_sched_context.consumed_ticks > 5600 && b->own_sched_context.consumed_ticks < 6400);
}

static void budgets_are_checked(void)
{
    CHECK_EQUAL(thread_set_budget(current, 0, 10), ERROR_ARGUMENT);
    CHECK_EQUAL(thread_set_budget(current, 11, 10), ERROR_ARGUMENT);
    CHECK_EQUAL(thread_set_budget(current, 1, ~0ul), ERROR_ARGUMENT);
}

static void serve(void *endpoint)
{
    struct message m;
    endpoint_receive(endpoint, &m);
    for (;;) {
        note('s');
        endpoint_reply_receive(endpoint, 0, &m);
    }
}

static struct thread *passive_server(struct endpoint *e, test_body *body)
{
    struct thread *t = test_thread_created(body, e, RUNNER_PRIORITY + 1);
    thread_set_passive(t, 1);
    thread_start(t);
    CHECK_EQUAL(t->state, THREAD_BLOCKED | THREAD_UNFUNDED);
    CHECK(t->sched_context == NULL);
    return t;
}

static void passive_server_runs_on_its_callers_time(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct message m = {0};
    struct thread *t = passive_server(e, serve);
    uint64_t own_ticks = t->own_sched_context.consumed_ticks;
    for (uint64_t words = 0; words < 10; words++) {
        CHECK_EQUAL(endpoint_call(e, words, &m), 0);
        CHECK(current->sched_context == &current->own_sched_context);
        CHECK_EQUAL(t->state, THREAD_BLOCKED | THREAD_UNFUNDED);
    }
    CHECK_EQUAL(t->own_sched_context.consumed_ticks, own_ticks);
    CHECK(noted("ssssssssss"));
}

static void serve_by_spinning(void *endpoint)
{
    struct message m;
    endpoint_receive(endpoint, &m);
    spin(NULL);
}

static void call_then_note(void *endpoint)
{
    struct message m = {0};
    note(endpoint_call(endpoint, 0, &m) == ERROR_ABORTED ? '!' : 'c');
}

static void server_stops_when_its_callers_budget_ends(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct thread *server = passive_server(e, serve_by_spinning);
    struct thread *caller = test_thread_created(call_then_note, e, RUNNER_PRIORITY + 1);
    thread_set_budget(caller, 200, 2000);
    thread_start(caller);
    CHECK_EQUAL(server->state, THREAD_DEPLETED);
    CHECK(near(caller->own_sched_context.consumed_ticks, 200));
    thread_abort(server);
    CHECK(noted("")); // the caller has its context back, but no budget yet
    thread_sleep(4000);
    CHECK(noted("!"));
    CHECK(caller->sched_context == &caller->own_sched_context);
}

static void aborted_caller_takes_its_context_along(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct thread *server = passive_server(e, serve_by_spinning);
    struct thread *caller = test_thread_created(call_then_note, e, RUNNER_PRIORITY + 1);
    thread_set_budget(caller, 200, 1000);
    thread_start(caller);
    thread_abort(caller);
    CHECK(server->sched_context == NULL);
    uint64_t seen = spins;
    thread_sleep(5000);
    CHECK_EQUAL(spins, seen);
}

static struct thread *victim;

static void serve_by_ending_the_caller(void *endpoint)
{
    struct message m;
    endpoint_receive(endpoint, &m);
    thread_abort(victim);
    note('s');
    endpoint_receive(endpoint, &m);
}

static void server_may_end_its_caller(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct message m = {0};
    struct thread *server = passive_server(e, serve_by_ending_the_caller);
    victim = test_thread_created(call_then_note, e, RUNNER_PRIORITY + 1);
    thread_start(victim);
    CHECK(noted("s"));
    CHECK_EQUAL(server->state, THREAD_BLOCKED | THREAD_UNFUNDED);
    CHECK_EQUAL(endpoint_call(e, 0, &m), ERROR_ABORTED); // on the caller's context to its end
}

static void suspended_server_stays_so_without_a_context(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct thread *server = passive_server(e, serve_by_spinning);
    struct thread *caller = test_thread_created(call_then_note, e, RUNNER_PRIORITY + 1);
    thread_set_budget(caller, 200, 2000);
    thread_start(caller);
    thread_suspend(server);
    thread_abort(caller);
    CHECK_EQUAL(server->state & (THREAD_SUSPENDED | THREAD_UNFUNDED),
                THREAD_SUSPENDED | THREAD_UNFUNDED);
    thread_resume(server);
    uint64_t seen = spins;
    thread_sleep(5000);
    CHECK_EQUAL(spins, seen);
}

const struct test scheduling_tests[] = {
    {"a budget bounds a thread's share", budget_bounds_the_share},
    {"unused budget is not saved up", unused_budget_is_not_saved_up},
    {"a depleted thread lets the less urgent run", depleted_thread_lets_the_less_urgent_run},
    {"round robin takes turns", round_robin_takes_turns},
    {"budgets are checked", budgets_are_checked},
    {"a passive server runs on its callers' time", passive_server_runs_on_its_callers_time},
    {"a server stops when its caller's budget ends", server_stops_when_its_callers_budget_ends},
    {"a server may end its caller", server_may_end_its_caller},
    {"a suspended server stays so without a context", suspended_server_stays_so_without_a_context},
    {"an aborted caller takes its context along", aborted_caller_takes_its_context_along},
    END_OF_TESTS,
};
#endif
