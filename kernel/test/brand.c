// SPDX-License-Identifier: BSD-2-Clause
//
// Brands and user-level scheduling: which outcome, counted how often, in which order.
#include "riscv.h"
#include "space.h"
#include "test.h"
#include "trap.h"

#if CONFIG_USERSPACE
static struct brand *brand;
static int64_t before[COUNTERS_END], after[COUNTERS_END];

static struct thread *make(enum program program, uint64_t priority, uint64_t mediated)
{
    static struct object *objects[6];
    objects[0] = test_object(OBJECT_user_scheduler, 0, 0);
    objects[1] = test_object(OBJECT_component, 0, 0);
    objects[2] = test_object(OBJECT_component, 0, 0);
    objects[3] = test_object(OBJECT_brand, mediated, 0);
    objects[4] = test_object(OBJECT_user_scheduler, 1, 0);
    brand = (struct brand *)objects[3];
    struct thread *t = test_program_created(program, priority, objects);
    test_spare(t, SPARE);
    test_spare(t, SPARE + 1);
    test_spare(t, SPARE + 2);
    return t;
}

// Runs the program to its end and checks that this is not a fault.
static void run(enum program program, uint64_t mediated)
{
    struct thread *t = make(program, RUNNER_PRIORITY + 1, mediated);
    counters_read(before);
    thread_start(t);
    counters_read(after);
    CHECK_EQUAL(t->state, THREAD_DEAD);
    CHECK_EQUAL(t->fault, 0);
}

#define CHECK_COUNT(name, expected) \
    CHECK_EQUAL(after[COUNT_##name] - before[COUNT_##name], expected)

static void pending_counts_and_does_not_queue(void)
{
    test_shared()[0] = 5;
    run(PROGRAM_pend, 0);
    CHECK_EQUAL(test_shared()[1], 1);
    CHECK_EQUAL(test_shared()[6], 0);
    CHECK_EQUAL(test_shared()[2], 6);
    CHECK_EQUAL(test_shared()[3], 708);
    CHECK_EQUAL(test_shared()[4], 0);
    CHECK_EQUAL(test_shared()[5], 0);
    CHECK_EQUAL(brand->pending, 0);
    CHECK_EQUAL(test_shared()[7], EVENT_BRAND_ACTIVE | EVENT_BRAND_PEND);
    CHECK_EQUAL(test_shared()[8], EVENT_BRAND_READY);
    CHECK_COUNT(brand_delayed, 1);
    CHECK_COUNT(brand_pend, 5);
    CHECK_COUNT(brand_pend_execute, 5);
    CHECK_COUNT(brand_completion_uc, 1);
    CHECK_COUNT(finished_brands, 1);
}

static void urgent_upcall_returns_directly(void)
{
    run(PROGRAM_raise_urgent, 0);
    CHECK_EQUAL(test_shared()[1], 123);
    CHECK_COUNT(brand_uc, 1);
    CHECK_COUNT(brand_sched_preempted, 1);
    CHECK_COUNT(finished_brands, 1);
    CHECK_COUNT(brand_completion_uc, 0);
    CHECK_COUNT(switch_coop, 0);
}

static void less_urgent_upcall_waits(void)
{
    run(PROGRAM_raise_less_urgent, 0);
    CHECK_EQUAL(test_shared()[1], 1324);
    CHECK_COUNT(brand_delayed, 1);
    CHECK_COUNT(brand_completion_uc, 1);
    CHECK_COUNT(brand_sched_preempted, 0);
    CHECK_COUNT(finished_brands, 1);
}

static void outcomes_follow_each_other(void)
{
    run(PROGRAM_raise_urgent_then_less, 0);
    CHECK_EQUAL(test_shared()[1], 12324);
    CHECK_COUNT(brand_uc, 1);
    CHECK_COUNT(brand_delayed, 1);
    CHECK_COUNT(finished_brands, 2);
}

static void decision_ends_direct_return(void)
{
    static const enum program programs[] = {PROGRAM_decide_between, PROGRAM_decide_for_third};
    for (int i = 0; i < 2; i++) {
        test_shared()[1] = 0;
        run(programs[i], 0);
        CHECK_EQUAL(test_shared()[1], 12345);
        CHECK_COUNT(brand_uc, 1);
        CHECK_COUNT(brand_sched_preempted, 0);
        CHECK_COUNT(brand_completion_uc, 1);
        CHECK_COUNT(finished_brands, 1);
    }
}

static void raise_at_the_end_is_not_lost(void)
{
    run(PROGRAM_raise_at_end, 0);
    CHECK_EQUAL(test_shared()[1], 1223);
    CHECK_COUNT(brand_pend, 1);
    CHECK_COUNT(brand_pend_execute, 1);
    CHECK_COUNT(brand_completion_uc, 2);
    CHECK_COUNT(finished_brands, 1);
}

static void asked_scheduler_runs_the_upcall(void)
{
    run(PROGRAM_raise_urgent, 1);
    CHECK_EQUAL(test_shared()[1], 123);
    CHECK_COUNT(brand_uc, 0);
    CHECK_COUNT(brand_completion_uc, 1);
    CHECK_COUNT(finished_brands, 1);
    CHECK_COUNT(switch_coop, 2);
}

static void asked_scheduler_declines(void)
{
    run(PROGRAM_raise_less_urgent, 1);
    CHECK_EQUAL(test_shared()[1], 1324);
    CHECK_COUNT(brand_delayed, 0);
    CHECK_COUNT(switch_coop, 3);
}

static void client_outlives_its_upcall(void)
{
    struct thread *t = make(PROGRAM_raise_mortal, RUNNER_PRIORITY + 1, 0);
    thread_start(t);
    thread_sleep(100);
    CHECK_EQUAL(test_shared()[1], 1);
    CHECK_EQUAL(t->state, THREAD_DEAD);
    CHECK_EQUAL(t->fault, 0);
}

static void deepest_common_scheduler_decides(void)
{
    test_shared()[0] = 1;
    run(PROGRAM_two_levels, 0);
    CHECK_EQUAL(test_shared()[1], 123);
    test_shared()[0] = 0;
    test_shared()[1] = 0;
    run(PROGRAM_two_levels, 0);
    CHECK_EQUAL(test_shared()[1], 13);
}

// The software interrupt comes when the program runs, not now: it is raised where interrupts are
// closed.
static void interrupt_program(uint64_t ticks)
{
    uint64_t irq = interrupts_off();
    software_interrupt_raise();
    thread_sleep(ticks);
    interrupts_restore(irq);
}

// Interrupts the program `times` times by a brand, then lets it end.
static void interrupt_by_brand(enum program program, uint64_t times)
{
    struct thread *t = make(program, RUNNER_PRIORITY - 1, 0);
    software_interrupt_attach(brand_interrupt, brand);
    thread_start(t);
    thread_sleep(1000);
    counters_read(before);
    for (uint64_t i = 0; i < times; i++)
        interrupt_program(100 + i % 97); // prime: no loop of the program keeps step with it
    counters_read(after);
    test_shared()[3] = 1;
    CHECK_EQUAL(thread_join(t, 100000), 0);
    CHECK_EQUAL(t->fault, 0);
}

static void interrupt_raises_a_brand(void)
{
    interrupt_by_brand(PROGRAM_be_interrupted, 4);
    CHECK(test_shared()[1] > 0);
    CHECK_EQUAL(test_shared()[2], 4);
    CHECK_COUNT(brand_uc, 4);
    CHECK_COUNT(brand_sched_preempted, 4);
}

static void preempted_thread_is_switched_to(void)
{
    test_shared()[0] = 1;
    interrupt_by_brand(PROGRAM_be_interrupted, 3);
    CHECK_EQUAL(test_shared()[2], 1); // that upcall never ends, so that the next two are pending
    CHECK_COUNT(brand_uc, 1);
    CHECK_COUNT(brand_pend, 2);
    CHECK_COUNT(switch_preempt, 1);
    CHECK_COUNT(switch_coop, 0);
}

static void interrupt_of_others_only_delays(void)
{
    struct thread *t = make(PROGRAM_be_interrupted, RUNNER_PRIORITY - 1, 0);
    software_interrupt_attach(brand_interrupt, brand);
    thread_start(t);
    thread_sleep(1000);
    counters_read(before);
    software_interrupt_raise(); // of this thread
    counters_read(after);
    CHECK_COUNT(interrupts, 1);
    CHECK_COUNT(brand_delayed, 1);
    CHECK_EQUAL(test_shared()[2], 0);
    test_shared()[3] = 1;
    CHECK_EQUAL(thread_join(t, 100000), 0);
}

static void scheduler_refuses_nonsense(void)
{
    run(PROGRAM_misuse_scheduler, 0);
    CHECK_EQUAL(test_shared()[1], 123);
    CHECK_EQUAL(test_shared()[2], 1);
    CHECK_COUNT(switch_self, 1);
    CHECK_COUNT(switch_coop, 2);
}

static void equals_take_turns(void)
{
    run(PROGRAM_yield, 0);
    CHECK_EQUAL(test_shared()[1], 121212);
}

static void user_level_block_and_wake(void)
{
    run(PROGRAM_block_and_wake, 0);
    CHECK_EQUAL(test_shared()[1], 123456);
}

static void do_nothing(void *argument)
{
    (void)argument;
}

static void interrupted_section_starts_again(void)
{
    struct thread *t = make(PROGRAM_long_section, RUNNER_PRIORITY - 1, 0);
    software_interrupt_attach(do_nothing, NULL);
    thread_start(t);
    thread_sleep(1000);
    CHECK_EQUAL(test_shared()[1], 1);
    counters_read(before);
    for (int i = 0; i < 5; i++)
        interrupt_program(100);
    counters_read(after);
    CHECK_COUNT(interrupts,
                10); // the software's finds the section at its start, then the timer's inside
    CHECK_COUNT(atomic_rbk, 5);
    CHECK_EQUAL(test_shared()[1], 6);
    CHECK_EQUAL(test_shared()[2], 0);
    test_shared()[3] = 1;
    CHECK_EQUAL(thread_join(t, 100000), 0);
    CHECK_EQUAL(test_shared()[1], 7);
    CHECK_EQUAL(test_shared()[2], 1);
}

static void lock_excludes_upcalls(void)
{
    interrupt_by_brand(PROGRAM_share_lock, 500);
    CHECK_EQUAL(test_shared()[2], 500);
    CHECK_EQUAL(test_shared()[1], test_shared()[2] + test_shared()[4]);
    CHECK_EQUAL(test_shared()[5], 1);
    CHECK_COUNT(finished_brands, 500);
    CHECK(after[COUNT_atomic_rbk] > before[COUNT_atomic_rbk]);
    CHECK(after[COUNT_atomic_lock] > before[COUNT_atomic_lock]);
    CHECK_COUNT(atomic_unlock, after[COUNT_atomic_lock] - before[COUNT_atomic_lock]);
}

// Several hostile threads share a program and its objects. The dead rise again; who waits too long
// is ended.
static void fuzzers_do_no_harm(void)
{
    struct thread *bench[4] = {make(PROGRAM_fuzz_components, RUNNER_PRIORITY - 1, 0)};
    for (unsigned i = 1; i < 4; i++)
        bench[i] = test_spare(bench[0], SPARE - 1 + i); // in the place of those that make() gave
    test_shared()[2] = RUNNER_PRIORITY - 1;
    software_interrupt_attach(brand_interrupt, brand);
    for (uint64_t round = 0; round < 3000; round++) {
        for (int i = 0; i < 4; i++) {
            if (round % 4 == 0)
                thread_abort(bench[i]);
            if (thread_create(bench[i], space_entry(), PROGRAM_fuzz_components,
                              RUNNER_PRIORITY - 1) == 0)
                thread_start(bench[i]);
        }
        interrupt_program(50);
    }
    for (int i = 0; i < 4; i++)
        thread_abort(bench[i]);
    CHECK(test_shared()[0] > 1000);  // lives
    CHECK(test_shared()[1] > 20000); // calls
    software_interrupt_attach(NULL, NULL);
    run(PROGRAM_raise_urgent, 0);
    CHECK_EQUAL(test_shared()[1] % 1000, 123);
}

#if CONFIG_ACCOUNTING
static uint64_t missing_cyc(uint64_t turns)
{
    test_shared()[0] = turns;
    run(PROGRAM_account, 0);
    CHECK(test_shared()[2] > 0);
    CHECK_EQUAL(test_shared()[3], 1);
    CHECK_EQUAL(test_shared()[4], 1);
    return test_shared()[1];
}

// What is missing is the way into the first accounted stretch and out of the last, however long
// they are.
static void charges_add_up_to_the_time_passed(void)
{
    uint64_t of_few = missing_cyc(3);
    CHECK_EQUAL(missing_cyc(10), of_few);
    CHECK_EQUAL(missing_cyc(100), of_few);
    CHECK(of_few < test_shared()[2]);
}
#endif

const struct test brand_tests[] = {
    {"what is pending is counted and not queued", pending_counts_and_does_not_queue},
    {"an urgent upcall runs at once and returns directly", urgent_upcall_returns_directly},
    {"a less urgent upcall waits for the scheduler", less_urgent_upcall_waits},
    {"one outcome follows another", outcomes_follow_each_other},
    {"a scheduler's decision ends the direct return", decision_ends_direct_return},
    {"a brand raised at its upcall's end is not lost", raise_at_the_end_is_not_lost},
    {"a scheduler that is asked runs the upcall", asked_scheduler_runs_the_upcall},
    {"a scheduler that is asked declines", asked_scheduler_declines},
    {"a client outlives its upcall", client_outlives_its_upcall},
    {"the deepest common scheduler decides", deepest_common_scheduler_decides},
    {"an interrupt raises a brand", interrupt_raises_a_brand},
    {"a preempted thread is switched to", preempted_thread_is_switched_to},
    {"an interrupt of others only delays", interrupt_of_others_only_delays},
    {"a user-level scheduler is refused nonsense", scheduler_refuses_nonsense},
    {"equals take turns", equals_take_turns},
    {"user-level block and wake", user_level_block_and_wake},
    {"an interrupted section starts again", interrupted_section_starts_again},
    {"a user-level lock excludes upcalls", lock_excludes_upcalls},
    {"fuzzers of brands and schedulers do no harm", fuzzers_do_no_harm},
#if CONFIG_ACCOUNTING
    {"charges add up to the time that passed", charges_add_up_to_the_time_passed},
#endif
    END_OF_TESTS,
};
#endif
