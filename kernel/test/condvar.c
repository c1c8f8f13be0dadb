// SPDX-License-Identifier: BSD-2-Clause
#include "test.h"

static struct condvar *condvar;
static struct mutex *mutex;

static void make(void)
{
    condvar = test_object(OBJECT_condvar, 0, 0);
    mutex = test_object(OBJECT_mutex, 0, 0);
}

static void wait_then_note(void *letter)
{
    mutex_lock(mutex, FOREVER);
    CHECK_EQUAL(condvar_wait(condvar, mutex, FOREVER), 0);
    CHECK(mutex->lock.owner == current);
    note(*(const char *)letter);
    mutex_unlock(mutex);
}

static void waiter_gives_up_the_mutex(void)
{
    make();
    test_thread(wait_then_note, "a", RUNNER_PRIORITY + 1);
    CHECK_EQUAL(mutex_lock(mutex, 0), 0);
    CHECK_EQUAL(mutex_unlock(mutex), 0);
    condvar_signal(condvar);
    CHECK(noted("a"));
}

static void signal_without_waiter_is_lost(void)
{
    make();
    CHECK_EQUAL(condvar_signal(condvar), 0);
    CHECK_EQUAL(condvar_broadcast(condvar), 0);
    test_thread(wait_then_note, "a", RUNNER_PRIORITY + 1);
    CHECK(noted(""));
}

// The signalled thread must not run before the mutex is free, and has its owner's help until then.
static void signalled_waits_for_the_mutex(void)
{
    make();
    struct thread *t = test_thread(wait_then_note, "a", RUNNER_PRIORITY + 1);
    mutex_lock(mutex, FOREVER);
    condvar_signal(condvar);
    note('-');
    CHECK(t->awaited == &mutex->lock);
    CHECK_EQUAL(current->level, t->level);
    mutex_unlock(mutex);
    CHECK(noted("-a"));
    CHECK_EQUAL(current->level, current->base_level);
}

static void broadcast_reaches_all_in_order(void)
{
    make();
    test_thread(wait_then_note, "a", RUNNER_PRIORITY + 1);
    test_thread(wait_then_note, "b", RUNNER_PRIORITY + 3);
    test_thread(wait_then_note, "c", RUNNER_PRIORITY + 1);
    condvar_broadcast(condvar);
    CHECK(noted("bac"));
}

static void wait_briefly(void *argument)
{
    (void)argument;
    mutex_lock(mutex, FOREVER);
    CHECK_EQUAL(condvar_wait(condvar, mutex, 100), ERROR_TIMEOUT);
    CHECK(mutex->lock.owner == current);
    note('t');
    mutex_unlock(mutex);
}

static void mutex_is_back_after_a_timeout(void)
{
    make();
    struct thread *t = test_thread(wait_briefly, NULL, RUNNER_PRIORITY + 1);
    mutex_lock(mutex, FOREVER);
    thread_sleep(1000);
    CHECK(t->awaited == &mutex->lock);
    note('-');
    mutex_unlock(mutex);
    CHECK(noted("-t"));
}

static void wait_a_while(void *argument)
{
    (void)argument;
    mutex_lock(mutex, FOREVER);
    CHECK_EQUAL(condvar_wait(condvar, mutex, 300), 0);
    note('s');
    mutex_unlock(mutex);
}

static void signalled_in_time_does_not_time_out(void)
{
    make();
    test_thread(wait_a_while, NULL, RUNNER_PRIORITY + 1);
    mutex_lock(mutex, FOREVER);
    condvar_signal(condvar);
    thread_sleep(1000);
    CHECK(noted(""));
    mutex_unlock(mutex);
    CHECK(noted("s"));
}

static void wait_needs_the_mutex_once(void)
{
    make();
    CHECK_EQUAL(condvar_wait(condvar, mutex, FOREVER), ERROR_DENIED);
    mutex_lock(mutex, FOREVER);
    mutex_lock(mutex, FOREVER);
    CHECK_EQUAL(condvar_wait(condvar, mutex, FOREVER), ERROR_DENIED);
    mutex_unlock(mutex);
    CHECK_EQUAL(condvar_wait(condvar, mutex, 10), ERROR_TIMEOUT);
    CHECK_EQUAL(mutex_unlock(mutex), 0);
}

static void lock_and_signal(void *argument)
{
    (void)argument;
    mutex_lock(mutex, FOREVER);
    condvar_signal(condvar);
    mutex_unlock(mutex);
}

// The waiter of the mutex, more urgent, runs as soon as the mutex is given up: its signal must not
// be lost.
static void no_signal_is_lost_at_the_start_of_a_wait(void)
{
    make();
    mutex_lock(mutex, FOREVER);
    test_thread(lock_and_signal, NULL, RUNNER_PRIORITY + 1);
    CHECK_EQUAL(condvar_wait(condvar, mutex, 1000), 0);
}

const struct test condvar_tests[] = {
    {"who waits for a signal gives up the mutex", waiter_gives_up_the_mutex},
    {"a signal without waiter is lost", signal_without_waiter_is_lost},
    {"a signalled thread waits for the mutex", signalled_waits_for_the_mutex},
    {"a broadcast reaches all in order", broadcast_reaches_all_in_order},
    {"the mutex is back after a timeout", mutex_is_back_after_a_timeout},
    {"who is signalled in time does not time out", signalled_in_time_does_not_time_out},
    {"to wait for a signal needs the mutex, once", wait_needs_the_mutex_once},
    {"no signal is lost at the start of a wait", no_signal_is_lost_at_the_start_of_a_wait},
    END_OF_TESTS,
};
