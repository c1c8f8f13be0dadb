// SPDX-License-Identifier: BSD-2-Clause
//
// Waiting for a time.
#include "test.h"
#include "timeout.h"

static void sleep_then_note(void *argument)
{
    const char *letter = argument;
    thread_sleep((uint64_t)(*letter - 'a' + 1) * 1000); // far more than it takes to make the others
    note(*letter);
}

static void sleepers_wake_in_order_of_time(void)
{
    test_thread(sleep_then_note, "c", RUNNER_PRIORITY + 1);
    test_thread(sleep_then_note, "a", RUNNER_PRIORITY + 1);
    test_thread(sleep_then_note, "b", RUNNER_PRIORITY + 1);
    thread_sleep(5000);
    CHECK(noted("abc"));
}

static void sleep_lasts_as_long_as_asked(void)
{
    uint64_t before = time_ticks();
    thread_sleep(500);
    CHECK(time_ticks() - before >= 500);
}

static void timeout_of_a_take(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    uint64_t before = time_ticks();
    CHECK_EQUAL(semaphore_take(s, 0), ERROR_BUSY);
    CHECK_EQUAL(semaphore_take(s, 300), ERROR_TIMEOUT);
    CHECK(time_ticks() - before >= 300);
    semaphore_give(s);
    CHECK_EQUAL(semaphore_take(s, 300), 0);
}

static void give_late(void *semaphore)
{
    thread_sleep(100);
    semaphore_give(semaphore);
}

static void take_in_time_cancels_its_timeout(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    test_thread(give_late, s, RUNNER_PRIORITY - 1);
    CHECK_EQUAL(semaphore_take(s, 10000), 0);
    CHECK_EQUAL(current->timeout_armed, 0);
    thread_sleep(20000);
    CHECK_EQUAL(semaphore_take(s, 0), ERROR_BUSY);
}

static void take_with_timeout(void *semaphore)
{
    CHECK_EQUAL(semaphore_take(semaphore, 100), ERROR_TIMEOUT);
    note('t');
}

static void timed_out_waiter_is_forgotten(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    test_thread(take_with_timeout, s, RUNNER_PRIORITY + 1);
    thread_sleep(1000);
    CHECK(noted("t"));
    semaphore_give(s);
    CHECK_EQUAL(semaphore_take(s, 0), 0);
}

static void aborted_sleeper_is_forgotten(void)
{
    struct thread *t = test_thread(sleep_then_note, "a", RUNNER_PRIORITY + 1);
    thread_abort(t);
    thread_sleep(1000);
    CHECK(noted(""));
}

static void suspended_sleeper_wakes_after_its_resume(void)
{
    struct thread *t = test_thread(sleep_then_note, "a", RUNNER_PRIORITY + 1);
    thread_suspend(t);
    thread_sleep(1000);
    note('-');
    thread_resume(t);
    CHECK(noted("-a"));
}

static void join_times_out(void)
{
    struct thread *t = test_thread(sleep_then_note, "c", RUNNER_PRIORITY + 1);
    CHECK_EQUAL(thread_join(t, 100), ERROR_TIMEOUT);
    CHECK_EQUAL(thread_join(t, 100000), 0);
    CHECK(noted("c"));
}

const struct test timeout_tests[] = {
    {"sleepers wake in order of time", sleepers_wake_in_order_of_time},
    {"a sleep lasts as long as asked", sleep_lasts_as_long_as_asked},
    {"a take times out", timeout_of_a_take},
    {"a take in time cancels its timeout", take_in_time_cancels_its_timeout},
    {"a waiter that timed out is forgotten", timed_out_waiter_is_forgotten},
    {"an aborted sleeper is forgotten", aborted_sleeper_is_forgotten},
    {"a suspended sleeper wakes after its resume", suspended_sleeper_wakes_after_its_resume},
    {"a join times out", join_times_out},
    END_OF_TESTS,
};
