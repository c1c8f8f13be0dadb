// SPDX-License-Identifier: BSD-2-Clause
//
// Mutexes: recursion, inheritance of priority, and owners that end.
#include "riscv.h"
#include "test.h"
#include "timeout.h"

#define LOW (RUNNER_PRIORITY - 10)
#define MIDDLE (RUNNER_PRIORITY - 5)
#define HIGH (RUNNER_PRIORITY - 2)
#define LEVEL(priority) ((priority) + 1)

static struct mutex *first, *second;

static void make_mutexes(void)
{
    first = test_object(OBJECT_mutex, 0, 0);
    second = test_object(OBJECT_mutex, 0, 0);
}

// Holds the first mutex until it is resumed.
static void hold_first(void *argument)
{
    (void)argument;
    mutex_lock(first, FOREVER);
    thread_suspend(current);
    mutex_unlock(first);
    note('o');
}

static void hold_both(void *argument)
{
    (void)argument;
    mutex_lock(second, FOREVER);
    hold_first(NULL);
    mutex_unlock(second);
    note('O');
}

static void lock_then_note(void *mutex)
{
    mutex_lock(mutex, FOREVER);
    note('w');
}

static void lock_soon(void *mutex)
{
    CHECK_EQUAL(mutex_lock(mutex, 100), ERROR_TIMEOUT);
}

static void hold_second_and_lock_first(void *argument)
{
    (void)argument;
    mutex_lock(second, FOREVER);
    mutex_lock(first, FOREVER);
    mutex_unlock(first);
    mutex_unlock(second);
    note('m');
}

// A thread that has run until it waits; its priority is LOW, MIDDLE or HIGH from then on.
static struct thread *settled(test_body *body, void *argument, uint64_t priority)
{
    struct thread *t = test_thread(body, argument, RUNNER_PRIORITY + 1);
    thread_set_priority(t, priority);
    return t;
}

static void try_lock(void *result)
{
    *(int64_t *)result = mutex_lock(first, 0);
}

static int64_t lock_by_another(void)
{
    int64_t result;
    test_thread(try_lock, &result, RUNNER_PRIORITY + 1);
    return result;
}

static void is_free_after_as_many_unlocks(void)
{
    make_mutexes();
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(mutex_lock(first, 0), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(lock_by_another(), ERROR_BUSY);
        CHECK_EQUAL(mutex_unlock(first), 0);
    }
    CHECK_EQUAL(mutex_unlock(first), ERROR_DENIED);
    CHECK_EQUAL(lock_by_another(), 0);
}

static void unlocked_by_its_owner_alone(void)
{
    make_mutexes();
    settled(hold_first, NULL, LOW);
    CHECK_EQUAL(mutex_unlock(first), ERROR_DENIED);
    CHECK_EQUAL(mutex_lock(first, 0), ERROR_BUSY);
}

static void note_middle(void *argument)
{
    (void)argument;
    note('m');
}

static void hold_while_others_come(void *argument)
{
    (void)argument;
    mutex_lock(first, FOREVER);
    note('a');
    test_thread(lock_then_note, first, HIGH);
    test_thread(note_middle, NULL, MIDDLE);
    note('b');
    mutex_unlock(first);
    note('c');
}

// Without inheritance the middle thread would come before 'b'.
static void owner_runs_before_the_middle(void)
{
    make_mutexes();
    struct thread *t = test_thread(hold_while_others_come, NULL, LOW);
    thread_join(t, FOREVER);
    CHECK(noted("abwmc"));
}

static void owner_has_its_waiters_level(void)
{
    make_mutexes();
    struct thread *owner = settled(hold_first, NULL, LOW);
    CHECK_EQUAL(owner->level, LEVEL(LOW));
    test_thread(lock_then_note, first, RUNNER_PRIORITY + 2);
    CHECK_EQUAL(owner->level, LEVEL(RUNNER_PRIORITY + 2));
    thread_resume(owner);
    CHECK_EQUAL(owner->level, LEVEL(LOW));
    CHECK(noted("w"));
}

static void inheritance_goes_along_the_chain(void)
{
    make_mutexes();
    struct thread *owner = settled(hold_first, NULL, LOW);
    struct thread *middle = settled(hold_second_and_lock_first, NULL, MIDDLE);
    CHECK_EQUAL(owner->level, LEVEL(MIDDLE));
    struct thread *waiter = settled(lock_then_note, second, HIGH);
    CHECK_EQUAL(middle->level, LEVEL(HIGH));
    CHECK_EQUAL(owner->level, LEVEL(HIGH));
    thread_set_priority(waiter, RUNNER_PRIORITY + 3);
    CHECK_EQUAL(owner->level, LEVEL(RUNNER_PRIORITY + 3));
    thread_resume(owner);
    CHECK_EQUAL(owner->level, LEVEL(LOW));
    thread_join(middle, FOREVER);
    thread_join(owner, FOREVER);
    CHECK(noted("wmo"));
}

static void inheritance_ends_with_the_wait(void)
{
    make_mutexes();
    struct thread *owner = settled(hold_first, NULL, LOW);
    struct thread *waiter = test_thread(lock_soon, first, RUNNER_PRIORITY + 1);
    CHECK_EQUAL(owner->level, LEVEL(RUNNER_PRIORITY + 1));
    thread_join(waiter, FOREVER);
    CHECK_EQUAL(owner->level, LEVEL(LOW));
    waiter = test_thread(lock_then_note, first, RUNNER_PRIORITY + 1);
    CHECK_EQUAL(owner->level, LEVEL(RUNNER_PRIORITY + 1));
    thread_abort(waiter);
    CHECK_EQUAL(owner->level, LEVEL(LOW));
}

static void each_mutex_has_its_share(void)
{
    make_mutexes();
    struct thread *owner = settled(hold_both, NULL, LOW);
    settled(lock_then_note, first, HIGH);
    settled(lock_then_note, second, MIDDLE);
    CHECK_EQUAL(owner->level, LEVEL(HIGH));
    thread_resume(owner);
    thread_sleep(1000);
    CHECK(noted("wowO"));
}

static void own_priority_counts_too(void)
{
    make_mutexes();
    struct thread *owner = settled(hold_first, NULL, LOW);
    settled(lock_then_note, first, MIDDLE);
    thread_set_priority(owner, HIGH);
    CHECK_EQUAL(owner->level, LEVEL(HIGH));
    thread_set_priority(owner, LOW - 1);
    CHECK_EQUAL(owner->level, LEVEL(MIDDLE));
}

static void lock_the_other_way_round(void *argument)
{
    (void)argument;
    mutex_lock(second, FOREVER);
    thread_suspend(current);
    mutex_lock(first, FOREVER);
}

static void lock_both_ways(void *argument)
{
    (void)argument;
    mutex_lock(first, FOREVER);
    mutex_lock(second, FOREVER);
}

// Two threads wait for each other: they stay there, at the level of the more urgent, and the kernel
// goes on.
static void deadlock_hurts_nobody_else(void)
{
    make_mutexes();
    struct thread *one = settled(lock_the_other_way_round, NULL, LOW);
    struct thread *two = settled(lock_both_ways, NULL, MIDDLE);
    thread_set_priority(one, RUNNER_PRIORITY + 1);
    thread_resume(one);
    CHECK_EQUAL(two->level, LEVEL(RUNNER_PRIORITY + 1));
    thread_set_priority(one, LOW);
    CHECK_EQUAL(mutex_lock(first, 100), ERROR_TIMEOUT);
    thread_abort(one);
    CHECK_EQUAL(two->awaited, NULL);
    thread_join(two, FOREVER);
    CHECK_EQUAL(one->held, NULL); // it waits for nothing that it could be given
}

static void pass_on_to_suspended(void *waiter)
{
    mutex_lock(first, FOREVER);
    *(struct thread **)waiter = settled(lock_then_note, first, HIGH);
    thread_suspend(*(struct thread **)waiter);
    test_thread(note_middle, NULL, MIDDLE);
    note('a');
    mutex_unlock(first);
    note('b');
}

// The next owner cannot run; the lower level of the last one lets others.
static void unlock_for_a_suspended_thread(void)
{
    struct thread *waiter;
    make_mutexes();
    struct thread *t = test_thread(pass_on_to_suspended, &waiter, LOW);
    thread_join(t, FOREVER);
    CHECK(noted("amb"));
    CHECK(first->lock.owner == waiter);
}

struct sleeper {
    uint64_t ticks;
    char letter;
};

static void sleep_then_note(void *argument)
{
    const struct sleeper *s = argument;
    thread_sleep(s->ticks);
    note(s->letter);
}

// One interrupt ends three waits, the first of them for a mutex of the interrupted thread: that its
// level falls must not let the second run before the third is awake.
static void inheritance_ends_within_an_interrupt(void)
{
    static struct sleeper less = {300, 'l'}, more = {400, 'm'};
    make_mutexes();
    mutex_lock(first, FOREVER);
    test_thread(lock_soon, first, RUNNER_PRIORITY + 1);
    test_thread(sleep_then_note, &less, RUNNER_PRIORITY + 2);
    test_thread(sleep_then_note, &more, RUNNER_PRIORITY + 3);
    uint64_t irq = interrupts_off(), interrupts = counter_read(COUNT_interrupts);
    for (uint64_t before = time_ticks(); time_ticks() - before < 1000;)
        ;
    interrupts_restore(irq);
    CHECK(noted("ml"));
    CHECK_EQUAL(counter_read(COUNT_interrupts) - interrupts, 1);
    CHECK_EQUAL(current->level, current->base_level);
}

static void end_of_owner_passes_it_on(void)
{
    make_mutexes();
    struct thread *owner = settled(hold_both, NULL, LOW);
    test_thread(lock_then_note, first, RUNNER_PRIORITY + 1);
    thread_abort(owner);
    CHECK(noted("w"));
    CHECK_EQUAL(mutex_lock(second, 0), 0);
}

static void unlocked_in_any_order(void)
{
    make_mutexes();
    mutex_lock(first, FOREVER);
    mutex_lock(second, FOREVER);
    mutex_unlock(first);
    CHECK_EQUAL(lock_by_another(), 0);
    CHECK_EQUAL(mutex_unlock(second), 0);
    CHECK_EQUAL(current->held, NULL);
}

const struct test mutex_tests[] = {
    {"a mutex is free after as many unlocks as locks", is_free_after_as_many_unlocks},
    {"a mutex is unlocked by its owner alone", unlocked_by_its_owner_alone},
    {"mutexes are unlocked in any order", unlocked_in_any_order},
    {"an owner with an urgent waiter runs before the middle", owner_runs_before_the_middle},
    {"an owner has the level of its waiters", owner_has_its_waiters_level},
    {"inheritance goes along the chain", inheritance_goes_along_the_chain},
    {"inheritance ends with the wait", inheritance_ends_with_the_wait},
    {"each mutex has its share of the level", each_mutex_has_its_share},
    {"the owner's own priority counts too", own_priority_counts_too},
    {"a deadlock hurts nobody else", deadlock_hurts_nobody_else},
    {"an unlock for a suspended thread lets others run", unlock_for_a_suspended_thread},
    {"inheritance ends within an interrupt", inheritance_ends_within_an_interrupt},
    {"the end of an owner passes its mutexes on", end_of_owner_passes_it_on},
    END_OF_TESTS,
};
