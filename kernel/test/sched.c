// SPDX-License-Identifier: BSD-2-Clause
//
// Who runs when.
#include "sched.h"
#include "test.h"
#include "trap.h"

static void note_letter(void *argument)
{
    note(*(const char *)argument);
}

static void yield_between_letters(void *argument)
{
    const char *letters = argument;
    for (int i = 0; i < 2; i++) {
        note(letters[i]);
        thread_yield();
    }
}

static void more_urgent_runs_at_once(void)
{
    test_thread(note_letter, "a", RUNNER_PRIORITY + 1);
    note('b');
    CHECK(noted("ab"));
}

static void less_urgent_waits(void)
{
    struct thread *t = test_thread(note_letter, "a", RUNNER_PRIORITY - 1);
    note('b');
    thread_join(t, FOREVER);
    CHECK(noted("ba"));
}

static void every_priority_in_order(void)
{
    static const char letters[] = "abcdefghij";
    static const uint64_t priorities[] = {0, 1, 7, 8, 31, 62, 63, 64, 65, 99};
    for (int i = 0; i < 10; i++)
        test_thread(note_letter, (void *)(uint64_t)&letters[i], priorities[i]);
    thread_sleep(3000);
    CHECK(noted("jihgfedcba"));
}

static void equals_in_order_of_start(void)
{
    test_thread(note_letter, "a", RUNNER_PRIORITY);
    test_thread(note_letter, "b", RUNNER_PRIORITY);
    test_thread(note_letter, "c", RUNNER_PRIORITY);
    thread_yield();
    CHECK(noted("abc"));
}

static void yield_takes_turns(void)
{
    test_thread(yield_between_letters, "aA", RUNNER_PRIORITY);
    test_thread(yield_between_letters, "bB", RUNNER_PRIORITY);
    for (int i = 0; i < 3; i++) {
        note('-');
        thread_yield();
    }
    CHECK(noted("-ab-AB-"));
}

static void yield_passes_over_less_urgent(void)
{
    struct thread *t = test_thread(note_letter, "a", RUNNER_PRIORITY - 1);
    thread_yield();
    note('b');
    thread_join(t, FOREVER);
    CHECK(noted("ba"));
}

static void start_two_more_urgent(void *argument)
{
    (void)argument;
    test_thread(note_letter, "a", RUNNER_PRIORITY + 2);
    note('b');
    test_thread(note_letter, "c", RUNNER_PRIORITY + 2);
    note('d');
}

static void cooperative_is_not_preempted(void)
{
    struct thread *t = test_thread_created(start_two_more_urgent, NULL, RUNNER_PRIORITY + 1);
    thread_set_cooperative(t, 1);
    thread_start(t);
    CHECK(noted("bdac"));
}

static void preempted_stays_first_among_equals(void)
{
    test_thread(note_letter, "a", RUNNER_PRIORITY);
    test_thread(note_letter, "b", RUNNER_PRIORITY + 1);
    note('c');
    thread_yield();
    CHECK(noted("bca"));
}

static void held_preemption_takes_effect_at_release(void)
{
    uint64_t held = preemption_hold();
    test_thread(note_letter, "a", RUNNER_PRIORITY + 1);
    test_thread(note_letter, "b", RUNNER_PRIORITY + 2);
    note('c');
    preemption_release(held);
    CHECK(noted("cba"));
}

static void suspend_self_between_letters(void *argument)
{
    note('a');
    thread_suspend(*(struct thread **)argument);
    note('b');
}

static void suspended_runs_when_resumed(void)
{
    struct thread *t;
    t = test_thread_created(suspend_self_between_letters, &t, RUNNER_PRIORITY + 1);
    thread_start(t);
    CHECK_EQUAL(t->state, THREAD_SUSPENDED);
    note('-');
    CHECK_EQUAL(thread_resume(t), 0);
    CHECK(noted("a-b"));
    CHECK_EQUAL(thread_resume(t), ERROR_ARGUMENT);
}

static void suspended_while_ready(void)
{
    struct thread *t = test_thread(note_letter, "a", RUNNER_PRIORITY);
    thread_suspend(t);
    thread_yield();
    note('-');
    thread_resume(t);
    thread_yield();
    CHECK(noted("-a"));
}

static void aborted_never_runs_and_can_be_created_again(void)
{
    struct thread *t = test_thread(note_letter, "a", RUNNER_PRIORITY);
    CHECK_EQUAL(thread_create(t, 0, 0, 1), ERROR_BUSY);
    CHECK_EQUAL(thread_abort(t), 0);
    CHECK_EQUAL(thread_abort(t), ERROR_ARGUMENT);
    thread_yield();
    CHECK(noted(""));
    CHECK_EQUAL(thread_create(t, (uint64_t)note_letter, (uint64_t)"b", PRIORITIES), ERROR_ARGUMENT);
    CHECK_EQUAL(thread_create(t, (uint64_t)note_letter, (uint64_t)"b", RUNNER_PRIORITY + 1), 0);
    thread_start(t);
    CHECK(noted("b"));
}

static void abort_self(void *argument)
{
    (void)argument;
    note('a');
    thread_abort(current);
    note('!');
}

static void abort_of_self_ends_it(void)
{
    struct thread *t = test_thread(abort_self, NULL, RUNNER_PRIORITY);
    CHECK_EQUAL(thread_join(t, FOREVER), 0);
    CHECK(noted("a"));
}

static void changed_priority_takes_effect_at_once(void)
{
    struct thread *t = test_thread(note_letter, "a", RUNNER_PRIORITY - 1);
    thread_set_priority(t, RUNNER_PRIORITY + 1);
    note('b');
    test_thread(note_letter, "c", RUNNER_PRIORITY);
    thread_set_priority(current, RUNNER_PRIORITY - 2);
    note('d');
    thread_set_priority(current, RUNNER_PRIORITY);
    CHECK(noted("abcd"));
}

static void wake_by_interrupt(void *semaphore)
{
    semaphore_give(semaphore);
    note('i');
}

static void wait_then_note(void *semaphore)
{
    semaphore_take(semaphore, FOREVER);
    note('w');
}

static void interrupt_ends_before_what_it_wakes(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    test_thread(wait_then_note, s, RUNNER_PRIORITY + 1);
    software_interrupt_attach(wake_by_interrupt, s);
    software_interrupt_raise();
    note('r');
    CHECK(noted("iwr"));
}

const struct test scheduler_tests[] = {
    {"a more urgent thread runs at once", more_urgent_runs_at_once},
    {"a less urgent thread waits", less_urgent_waits},
    {"every priority in order", every_priority_in_order},
    {"equals in order of start", equals_in_order_of_start},
    {"yield takes turns", yield_takes_turns},
    {"yield passes over the less urgent", yield_passes_over_less_urgent},
    {"a cooperative thread is not preempted", cooperative_is_not_preempted},
    {"a preempted thread stays first among equals", preempted_stays_first_among_equals},
    {"held preemption takes effect at the release", held_preemption_takes_effect_at_release},
    {"a suspended thread runs when resumed", suspended_runs_when_resumed},
    {"a ready thread can be suspended", suspended_while_ready},
    {"an aborted thread never runs and can be created again",
     aborted_never_runs_and_can_be_created_again},
    {"a thread can abort itself", abort_of_self_ends_it},
    {"a changed priority takes effect at once", changed_priority_takes_effect_at_once},
    {"an interrupt ends before what it wakes", interrupt_ends_before_what_it_wakes},
    END_OF_TESTS,
};
