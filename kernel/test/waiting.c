// SPDX-License-Identifier: BSD-2-Clause
//
// What holds for every object that threads wait for, tried on each of them.
#include "console.h"
#include "test.h"
#include "timeout.h"

#define WAITERS 4

// A way to wait, and to end the wait of one.
struct kind {
    const char *name;
    enum object_type type;
    uint64_t a;
    void (*prepare)(void *object);
    int64_t (*wait)(void *object, uint64_t timeout_ticks);
    void (*wake)(void *object);
};

struct waiter {
    const struct kind *kind;
    void *object;
    uint64_t timeout_ticks;
    char letter;
};

static struct waiter waiters[WAITERS];
static struct mutex *with_condvar;

static void prepare_nothing(void *object)
{
    (void)object;
}

static void lock(void *mutex)
{
    mutex_lock(mutex, FOREVER);
}

static int64_t wait_for_mutex(void *mutex, uint64_t timeout_ticks)
{
    int64_t result = mutex_lock(mutex, timeout_ticks);
    if (result == 0)
        mutex_unlock(mutex);
    return result;
}

static void unlock(void *mutex)
{
    mutex_unlock(mutex);
}

static void make_mutex(void *condvar)
{
    (void)condvar;
    with_condvar = test_object(OBJECT_mutex, 0, 0);
}

static int64_t wait_for_signal(void *condvar, uint64_t timeout_ticks)
{
    mutex_lock(with_condvar, FOREVER);
    int64_t result = condvar_wait(condvar, with_condvar, timeout_ticks);
    CHECK_EQUAL(mutex_unlock(with_condvar), 0);
    return result;
}

static void signal(void *condvar)
{
    condvar_signal(condvar);
}

static int64_t get(void *queue, uint64_t timeout_ticks)
{
    int64_t item = queue_get(queue, timeout_ticks);
    return item < 0 ? item : 0;
}

static void put(void *queue)
{
    static struct item item;
    queue_append(queue, &item);
}

static int64_t pop(void *stack, uint64_t timeout_ticks)
{
    int64_t value = stack_pop(stack, timeout_ticks);
    return value < 0 ? value : 0;
}

static void push(void *stack)
{
    stack_push(stack, 1);
}

static int64_t take(void *semaphore, uint64_t timeout_ticks)
{
    return semaphore_take(semaphore, timeout_ticks);
}

static void give(void *semaphore)
{
    semaphore_give(semaphore);
}

static const struct kind kinds[] = {
    {"semaphore", OBJECT_semaphore, 0, prepare_nothing, take, give},
    {"mutex", OBJECT_mutex, 0, lock, wait_for_mutex, unlock},
    {"condition variable", OBJECT_condvar, 0, make_mutex, wait_for_signal, signal},
    {"queue", OBJECT_queue, 0, prepare_nothing, get, put},
    {"stack", OBJECT_stack, WAITERS, prepare_nothing, pop, push},
};

static void *prepared(const struct kind *kind)
{
    void *object = test_object(kind->type, kind->a, 1);
    kind->prepare(object);
    return object;
}

static void wait_then_note(void *argument)
{
    const struct waiter *w = argument;
    int64_t result = w->kind->wait(w->object, w->timeout_ticks);
    note(result == 0               ? w->letter
         : result == ERROR_TIMEOUT ? 't'
         : result == ERROR_BUSY    ? '0'
                                   : '!');
}

static struct thread *start_waiter(const struct kind *kind, void *object, int number,
                                   uint64_t priority)
{
    waiters[number] = (struct waiter){kind, object, FOREVER, (char)('a' + number)};
    return test_thread(wait_then_note, &waiters[number], priority);
}

static void expect_notes(const struct kind *kind, const char *letters)
{
    int as_expected = noted(letters);
    if (!as_expected)
        print("# waiting for a %s\n", kind->name);
    CHECK(as_expected);
}

static void equals_in_order(const struct kind *kind)
{
    void *object = prepared(kind);
    for (int i = 0; i < WAITERS; i++)
        start_waiter(kind, object, i, RUNNER_PRIORITY + 1);
    for (int i = 0; i < WAITERS; i++)
        kind->wake(object);
    expect_notes(kind, "abcd");
}

static void more_urgent_first(const struct kind *kind)
{
    static const uint64_t above[WAITERS] = {2, 4, 1, 3};
    void *object = prepared(kind);
    for (int i = 0; i < WAITERS; i++)
        start_waiter(kind, object, i, RUNNER_PRIORITY + above[i]);
    for (int i = 0; i < WAITERS; i++)
        kind->wake(object);
    expect_notes(kind, "bdac");
}

static void moves_with_its_priority(const struct kind *kind)
{
    void *object = prepared(kind);
    start_waiter(kind, object, 0, RUNNER_PRIORITY + 2);
    struct thread *t = start_waiter(kind, object, 1, RUNNER_PRIORITY + 1);
    thread_set_priority(t, RUNNER_PRIORITY + 3);
    kind->wake(object);
    kind->wake(object);
    expect_notes(kind, "ba");
}

static void may_not_wait(const struct kind *kind)
{
    void *object = prepared(kind);
    waiters[0] = (struct waiter){kind, object, 0, 'a'};
    test_thread(wait_then_note, &waiters[0], RUNNER_PRIORITY + 1);
    expect_notes(kind, "0");
}

static void times_out(const struct kind *kind)
{
    void *object = prepared(kind);
    uint64_t before = time_ticks();
    waiters[0] = (struct waiter){kind, object, 300, 'a'};
    struct thread *t = test_thread(wait_then_note, &waiters[0], RUNNER_PRIORITY + 1);
    start_waiter(kind, object, 1, RUNNER_PRIORITY + 1);
    thread_join(t, FOREVER);
    CHECK(time_ticks() - before >= 300);
    kind->wake(object);
    expect_notes(kind, "tb");
}

static void in_time_no_timeout(const struct kind *kind)
{
    void *object = prepared(kind);
    waiters[0] = (struct waiter){kind, object, 300, 'a'};
    struct thread *t = test_thread(wait_then_note, &waiters[0], RUNNER_PRIORITY + 1);
    CHECK_EQUAL(t->timeout_armed, 1);
    kind->wake(object);
    CHECK_EQUAL(t->timeout_armed, 0);
    thread_sleep(1000);
    expect_notes(kind, "a");
}

static void aborted_is_forgotten(const struct kind *kind)
{
    void *object = prepared(kind);
    struct thread *t = start_waiter(kind, object, 0, RUNNER_PRIORITY + 1);
    start_waiter(kind, object, 1, RUNNER_PRIORITY + 1);
    CHECK_EQUAL(thread_abort(t), 0);
    kind->wake(object);
    expect_notes(kind, "b");
}

static void suspended_waits_on(const struct kind *kind)
{
    void *object = prepared(kind);
    struct thread *t = start_waiter(kind, object, 0, RUNNER_PRIORITY + 1);
    thread_suspend(t);
    kind->wake(object);
    note('-');
    CHECK_EQUAL(t->state, THREAD_SUSPENDED);
    thread_resume(t);
    expect_notes(kind, "-a");
}

static void with_every_kind(void (*test)(const struct kind *))
{
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        test(&kinds[i]);
}

#define FOR_EVERY_KIND(name)       \
    static void every_##name(void) \
    {                              \
        with_every_kind(name);     \
    }
FOR_EVERY_KIND(equals_in_order)
FOR_EVERY_KIND(more_urgent_first)
FOR_EVERY_KIND(moves_with_its_priority)
FOR_EVERY_KIND(may_not_wait)
FOR_EVERY_KIND(times_out)
FOR_EVERY_KIND(in_time_no_timeout)
FOR_EVERY_KIND(aborted_is_forgotten)
FOR_EVERY_KIND(suspended_waits_on)

const struct test waiting_tests[] = {
    {"equal waiters are served in order", every_equals_in_order},
    {"the more urgent waiter is served first", every_more_urgent_first},
    {"a waiter moves with its priority", every_moves_with_its_priority},
    {"a thread that may not wait gets an error", every_may_not_wait},
    {"a wait times out", every_times_out},
    {"a wait that ends in time has no timeout", every_in_time_no_timeout},
    {"an aborted waiter is forgotten", every_aborted_is_forgotten},
    {"a suspended waiter is served, and runs when resumed", every_suspended_waits_on},
    END_OF_TESTS,
};
