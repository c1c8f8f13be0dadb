// SPDX-License-Identifier: BSD-2-Clause
#include "test.h"

struct taker {
    struct semaphore *semaphore;
    char letter;
};

static void take_then_note(void *argument)
{
    const struct taker *taker = argument;
    if (semaphore_take(taker->semaphore, FOREVER) == 0)
        note(taker->letter);
}

static void counts_up_to_its_limit(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 1, 2);
    for (int i = 0; i < 5; i++)
        semaphore_give(s);
    CHECK_EQUAL(semaphore_take(s, 0), 0);
    CHECK_EQUAL(semaphore_take(s, 0), 0);
    CHECK_EQUAL(semaphore_take(s, 0), ERROR_BUSY);
}

static void equals_are_served_in_order(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    static struct taker takers[4];
    for (int i = 0; i < 4; i++) {
        takers[i] = (struct taker){s, (char)('a' + i)};
        test_thread(take_then_note, &takers[i], RUNNER_PRIORITY + 1);
    }
    for (int i = 0; i < 4; i++)
        semaphore_give(s);
    CHECK(noted("abcd"));
}

static void more_urgent_is_served_first(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    static struct taker takers[3];
    static const uint64_t above[] = {1, 3, 2};
    for (int i = 0; i < 3; i++) {
        takers[i] = (struct taker){s, (char)('0' + (int)above[i])};
        test_thread(take_then_note, &takers[i], RUNNER_PRIORITY + above[i]);
    }
    for (int i = 0; i < 3; i++)
        semaphore_give(s);
    CHECK(noted("321"));
}

static void waiter_moves_with_its_priority(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    static struct taker first, second;
    first = (struct taker){s, 'a'};
    second = (struct taker){s, 'b'};
    test_thread(take_then_note, &first, RUNNER_PRIORITY + 1);
    struct thread *t = test_thread(take_then_note, &second, RUNNER_PRIORITY + 1);
    thread_set_priority(t, RUNNER_PRIORITY + 2);
    semaphore_give(s);
    semaphore_give(s);
    CHECK(noted("ba"));
}

static void aborted_waiter_is_forgotten(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    static struct taker taker;
    taker = (struct taker){s, 'a'};
    struct thread *t = test_thread(take_then_note, &taker, RUNNER_PRIORITY + 1);
    thread_abort(t);
    semaphore_give(s);
    CHECK(noted(""));
    CHECK_EQUAL(semaphore_take(s, 0), 0);
}

const struct test semaphore_tests[] = {
    {"a semaphore counts up to its limit", counts_up_to_its_limit},
    {"a semaphore serves equals in order", equals_are_served_in_order},
    {"a semaphore serves the more urgent first", more_urgent_is_served_first},
    {"a waiter moves with its priority", waiter_moves_with_its_priority},
    {"an aborted waiter is forgotten", aborted_waiter_is_forgotten},
    END_OF_TESTS,
};
