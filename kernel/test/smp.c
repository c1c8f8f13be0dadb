// SPDX-License-Identifier: BSD-2-Clause
//
// Two harts: threads of both at the same time, on one set of objects.
#include "smp.h"

#include "board.h"
#include "memlayout.h"
#include "page_alloc.h"
#include "space.h"
#include "test.h"

#if CONFIG_SMP
#define ROUNDS 40
// Looks before a test gives up: harts in QEMU are threads of a machine that may be busy.
#define PATIENCE_TURNS (BOARD_CLOCK_HZ == 0 ? 20000u : 1000000000u)

static volatile uint64_t flag, answer, counted, unprotected;

// Whether the word becomes `value` while this hart does nothing but look.
static int becomes(const volatile uint64_t *word, uint64_t value)
{
    for (uint64_t i = 0; i < PATIENCE_TURNS; i++)
        if (*word == value)
            return 1;
    return 0;
}

static struct thread *elsewhere(test_body *body, void *argument, uint64_t priority)
{
    struct thread *t = test_thread_created(body, argument, priority);
    CHECK_EQUAL(smp_place(t, 1), 0);
    thread_start(t);
    return t;
}

#define LESS_URGENT (RUNNER_PRIORITY - 1) // than the runner: on one hart it would not run

static void answer_flag(void *argument)
{
    (void)argument;
    if (becomes(&flag, 1))
        answer = 1;
}

static void harts_run_at_the_same_time(void)
{
    flag = answer = 0;
    elsewhere(answer_flag, NULL, LESS_URGENT);
    flag = 1;
    CHECK(becomes(&answer, 1));
}

static void ping(void *semaphores)
{
    struct semaphore **s = semaphores;
    for (int i = 0; i < ROUNDS; i++) {
        semaphore_take(s[0], FOREVER);
        semaphore_give(s[1]);
    }
    answer = ROUNDS;
}

static void semaphores_go_back_and_forth(void)
{
    struct semaphore *s[] = {test_object(OBJECT_semaphore, 0, 1),
                             test_object(OBJECT_semaphore, 0, 1)};
    answer = 0;
    struct thread *t = elsewhere(ping, s, LESS_URGENT);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQUAL(semaphore_give(s[0]), 0);
        CHECK_EQUAL(semaphore_take(s[1], FOREVER), 0);
    }
    thread_join(t, FOREVER);
    CHECK_EQUAL(answer, ROUNDS);
}

// Reads and writes with time between them: without a lock an increment is lost.
static void increment(void *mutex)
{
    for (int i = 0; i < ROUNDS; i++) {
        mutex_lock(mutex, FOREVER);
        uint64_t was = unprotected;
        for (volatile int wait = 0; wait < 20; wait++)
            ;
        unprotected = was + 1;
        mutex_unlock(mutex);
    }
}

static void a_mutex_excludes_the_other_hart(void)
{
    struct mutex *mutex = test_object(OBJECT_mutex, 0, 0);
    unprotected = 0;
    struct thread *t = elsewhere(increment, mutex, LESS_URGENT);
    increment(mutex);
    thread_join(t, FOREVER);
    CHECK_EQUAL(unprotected, 2 * ROUNDS);
}

// Many short calls of both harts at once: two lists of waiters and ready queues that a missing lock
// would tear.
static void give_and_take(void *semaphore)
{
    for (int i = 0; i < 10 * ROUNDS; i++) {
        semaphore_give(semaphore);
        semaphore_take(semaphore, FOREVER);
    }
}

static void the_kernel_is_closed_to_the_other_hart(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1000);
    struct thread *t = elsewhere(give_and_take, s, LESS_URGENT);
    give_and_take(s);
    thread_join(t, FOREVER);
    CHECK_EQUAL(semaphore_take(s, 0), ERROR_BUSY);
}

static void count(void *argument)
{
    (void)argument;
    for (;;)
        counted++;
}

static int moves(const volatile uint64_t *word)
{
    uint64_t was = *word;
    for (uint64_t i = 0; i < PATIENCE_TURNS; i++)
        if (*word != was)
            return 1;
    return 0;
}

static int stands_still(const volatile uint64_t *word)
{
    uint64_t was = *word;
    for (int i = 0; i < 50; i++)
        if (*word != was)
            return 0;
    return 1;
}

static void a_running_thread_is_stopped_and_goes_on(void)
{
    struct thread *t = elsewhere(count, NULL, LESS_URGENT);
    for (int i = 0; i < 10; i++) {
        CHECK(moves(&counted));
        thread_suspend(t);
        CHECK(stands_still(&counted));
        CHECK_EQUAL(thread_resume(t), 0);
    }
}

static void a_more_urgent_thread_preempts_there(void)
{
    flag = 1;
    answer = 0;
    elsewhere(count, NULL, LESS_URGENT);
    CHECK(moves(&counted));
    thread_join(elsewhere(answer_flag, NULL, RUNNER_PRIORITY), FOREVER);
    CHECK_EQUAL(answer, 1);
    CHECK(moves(&counted)); // the other one goes on behind it
}

static void a_thread_of_another_hart_stays_there(void)
{
    struct thread *t = elsewhere(count, NULL, LESS_URGENT);
    CHECK_EQUAL(smp_place(t, 0), ERROR_ARGUMENT);
    CHECK_EQUAL(smp_place(t, HARTS_MAX), ERROR_ARGUMENT);
}

#if CONFIG_USERSPACE
static struct thread *program_elsewhere(enum program program, struct object *const *objects)
{
    struct thread *t = test_program_created(program, LESS_URGENT, objects);
    CHECK_EQUAL(smp_place(t, 1), 0);
    thread_start(t);
    return t;
}

static void a_running_program_is_destroyed(void)
{
    struct thread *t = program_elsewhere(PROGRAM_spin, NULL);
    CHECK(moves(&test_shared()[1]));
    CHECK_EQUAL(thread_abort(t), 0);
    CHECK(stands_still(&test_shared()[1]));
    CHECK_EQUAL(test_shared()[2], 0);
}

// The runner destroys its space while the other hart has it loaded, and uses the pages again.
static void a_space_loaded_there_is_destroyed(void)
{
    struct object *objects[] = {test_object(OBJECT_semaphore, 0, 1), NULL};
    program_elsewhere(PROGRAM_take_forever, objects);
    program_elsewhere(PROGRAM_spin, NULL);
    CHECK(moves(&test_shared()[1]));
}

static void send_nothing(void *endpoint)
{
    struct message m = {0};
    endpoint_send(endpoint, 0, &m);
}

static void a_call_and_its_reply_cross_harts(void)
{
    struct endpoint *e = test_object(OBJECT_endpoint, 0, 0);
    struct object *objects[] = {test_object(OBJECT_semaphore, 0, 1), &e->object, NULL};
    struct message m;
    program_elsewhere(PROGRAM_call_server, objects);
    CHECK_EQUAL(endpoint_receive(e, &m), 10);
    CHECK_EQUAL(m.word[3], 4);
    CHECK_EQUAL(message_buffer()[0], 5);
    message_buffer()[0] = 55;
    m.word[0] = 50;
    test_thread(send_nothing, e, LESS_URGENT);
    CHECK_EQUAL(endpoint_reply_receive(e, MESSAGE_REGISTERS + 1, &m), 0);
    CHECK(becomes(&test_shared()[3], 55));
    CHECK_EQUAL(test_shared()[2], 50);
}

// The other hart reads a page through its TLB; after a change of the table and a shootdown it has
// to read the new page.
static void a_shootdown_reaches_the_other_hart(void)
{
    uint64_t *first = page_alloc(), *second = page_alloc();
    second[0] = 1;
    test_shared()[0] = USER_SCHEDULERS;
    struct thread *t = test_program_created(PROGRAM_await_word, LESS_URGENT, NULL);
    CHECK_EQUAL(space_map(t->space, USER_SCHEDULERS, first, PTE_READ), 0);
    CHECK_EQUAL(smp_place(t, 1), 0);
    thread_start(t);
    CHECK(moves(&test_shared()[1]));
    CHECK_EQUAL(space_map(t->space, USER_SCHEDULERS, second, PTE_READ), 0);
    uint64_t irq = interrupts_off();
    smp_fence();
    interrupts_restore(irq);
    CHECK(becomes(&test_shared()[2], 1));
    thread_abort(t);
    page_free(first);
    page_free(second);
}

static void two_fuzzers_do_no_harm(void)
{
    struct object *objects[TEST_ONE_OF_EACH];
    test_one_of_each(objects);
    test_shared()[0] = 10 * ROUNDS;
    struct thread *there = program_elsewhere(PROGRAM_fuzz, objects),
                  *here = test_program(PROGRAM_fuzz, LESS_URGENT, objects);
    CHECK_EQUAL(thread_join(here, FOREVER), 0);
    CHECK_EQUAL(thread_join(there, FOREVER), 0);
    CHECK_EQUAL(here->fault, 0);
    CHECK_EQUAL(there->fault, 0);
}
#endif

const struct test smp_tests[] = {
    {"harts run at the same time", harts_run_at_the_same_time},
    {"semaphores go back and forth between harts", semaphores_go_back_and_forth},
    {"a mutex excludes the other hart", a_mutex_excludes_the_other_hart},
    {"the kernel is closed to the other hart", the_kernel_is_closed_to_the_other_hart},
    {"a thread that runs on the other hart is stopped and goes on",
     a_running_thread_is_stopped_and_goes_on},
    {"a more urgent thread preempts on the other hart", a_more_urgent_thread_preempts_there},
    {"a thread that has begun stays on its hart", a_thread_of_another_hart_stays_there},
#if CONFIG_USERSPACE
    {"a program that runs on the other hart is destroyed", a_running_program_is_destroyed},
    {"a space that is loaded on the other hart is destroyed", a_space_loaded_there_is_destroyed},
    {"a call and its reply cross harts", a_call_and_its_reply_cross_harts},
    {"a shootdown reaches the other hart", a_shootdown_reaches_the_other_hart},
    {"fuzzers on both harts do no harm", two_fuzzers_do_no_harm},
#endif
    END_OF_TESTS,
};
#endif
