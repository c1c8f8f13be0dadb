// SPDX-License-Identifier: BSD-2-Clause
//
// Runs every test in turn and says on the console, in TAP's words, how each went; with only=<name>
// one fatal test.
#include "bench/runner.h"
#include "monitor.h"
#include "page_alloc.h"
#include "smp.h"
#include "space.h"
#include "string.h"
#include "test.h"
#include "trap.h"

#if CONFIG_SMP
const int smp_sleeps = 1;
#endif

#define KEPT_MAX 32

extern const struct test *const test_families[]; // families.c
extern const struct test fatal_tests[];          // fatal.c

static uint64_t failures;
static struct thread *kept_threads[KEPT_MAX];
static struct object *kept_objects[KEPT_MAX];
static char notes[64];
static uint64_t notes_length;
static uint64_t *shared;

void check(int holds, const char *condition, const char *file, int line)
{
    if (holds)
        return;
    failures++;
    print("# %s:%d: not true: %s\n", file, (uint64_t)line, condition);
}

void check_equal(int64_t seen, int64_t expected, const char *expression, const char *file, int line)
{
    if (seen == expected)
        return;
    failures++;
    print("# %s:%d: %s is %d, expected %d\n", file, (uint64_t)line, expression, seen, expected);
}

void note(char letter)
{
    if (notes_length + 1 < sizeof notes)
        notes[notes_length++] = letter;
}

int noted(const char *letters)
{
    notes[notes_length] = '\0';
    notes_length = 0;
    int same = strcmp(notes, letters) == 0;
    if (!same)
        print("# noted %s, expected %s\n", notes, letters);
    return same;
}

// Puts `item` where the runner finds it after the test.
static void keep(void *table, const void *item)
{
    void **slots = table;
    for (int i = 0; i < KEPT_MAX; i++) {
        if (slots[i] == NULL) {
            slots[i] = (void *)(uint64_t)item;
            return;
        }
    }
    panic("a test makes more than %d of a thing", (uint64_t)KEPT_MAX);
}

static struct thread *new_thread(struct space *space, const char *role)
{
    struct thread *t = thread_allocate(space, role);
    if (t == NULL)
        panic("no more threads for a test");
    keep(kept_threads, t);
    return t;
}

struct thread *test_thread_created(test_body *body, void *argument, uint64_t priority)
{
    struct thread *t = new_thread(NULL, "test");
    thread_create(t, (uint64_t)body, (uint64_t)argument, priority);
    return t;
}

struct thread *test_thread(test_body *body, void *argument, uint64_t priority)
{
    struct thread *t = test_thread_created(body, argument, priority);
    thread_start(t);
    return t;
}

void *test_object(enum object_type type, uint64_t a, uint64_t b)
{
    struct object *object = object_create(type, a, b);
    if (object == NULL)
        panic("no memory for a test's object");
    keep(kept_objects, object);
    return object;
}

void test_one_of_each(struct object *objects[TEST_ONE_OF_EACH])
{
    struct queue *queue = test_object(OBJECT_queue, 0, 0);
    queue_set_heap(queue, test_object(OBJECT_heap, 4096, 0));
    *objects++ = test_object(OBJECT_semaphore, 0, 1);
    *objects++ = test_object(OBJECT_mutex, 0, 0);
    *objects++ = test_object(OBJECT_condvar, 0, 0);
    *objects++ = &queue->object;
    *objects++ = test_object(OBJECT_stack, 100, 0);
    *objects++ = test_object(OBJECT_event_set, 0, 0);
    *objects = NULL;
}

#if CONFIG_USERSPACE
static struct space *kept_spaces[KEPT_MAX];

uint64_t *test_shared(void)
{
    return shared;
}

struct thread *test_program_created(enum program program, uint64_t priority,
                                    struct object *const *objects)
{
    struct space *space = space_create(shared);
    if (space == NULL)
        panic("no memory for a test's program");
    keep(kept_spaces, space);
    struct thread *t = new_thread(space, "program");
    space_grant(space, 0, &t->object, 1);
    for (unsigned i = 0; objects != NULL && objects[i] != NULL; i++)
        space_grant(space, i + 1, objects[i], 2ul << i);
    thread_create(t, space_entry(), program, priority);
    return t;
}

struct thread *test_program(enum program program, uint64_t priority, struct object *const *objects)
{
    struct thread *t = test_program_created(program, priority, objects);
    thread_start(t);
    return t;
}

struct thread *test_spare(const struct thread *program, unsigned handle)
{
    struct thread *t = new_thread(program->space, "spare");
    space_grant(program->space, handle, &t->object, 1);
    return t;
}

static void free_spaces(void)
{
    for (int i = 0; i < KEPT_MAX; i++)
        if (kept_spaces[i] != NULL)
            space_destroy(kept_spaces[i]);
    memset(kept_spaces, 0, sizeof kept_spaces);
}
#else
static void free_spaces(void)
{
}
#endif

static void clean_up(void)
{
    for (int i = 0; i < KEPT_MAX; i++)
        if (kept_threads[i] != NULL)
            thread_free(kept_threads[i]);
    for (int i = 0; i < KEPT_MAX; i++)
        if (kept_objects[i] != NULL)
            object_destroy(kept_objects[i]);
    free_spaces();
    memset(kept_threads, 0, sizeof kept_threads);
    memset(kept_objects, 0, sizeof kept_objects);
    memset(shared, 0, PAGE_BYTES);
    software_interrupt_attach(NULL, NULL);
    notes_length = 0;
}

static void check_nothing_left(void)
{
    for (enum object_type type = OBJECT_none; type < OBJECT_TYPES_END; type++)
        CHECK_EQUAL(object_count(type), 0);
}

// Returns whether it went well.
static int run_test(const struct test *test, uint64_t number)
{
    uint64_t before = failures;
    test->run();
    clean_up();
    check_nothing_left();
    print(failures == before ? "ok %u - %s\n" : "not ok %u - %s\n", number, test->name);
    return failures == before;
}

static void run_fatal(const char *name)
{
    for (const struct test *test = fatal_tests; test->name != NULL; test++)
        if (strcmp(test->name, name) == 0)
            test->run();
    print("not ok - %s: no such test, or the kernel went on\n", name);
    monitor_exit(0);
}

void runner_main(struct bench_args *args)
{
    uint64_t number = 0, failed = 0;
    const char *only = args->parameters.only;
    shared = page_alloc();
    thread_set_priority(current, RUNNER_PRIORITY);
    if (strcmp(only, "*") != 0)
        run_fatal(only);
    for (const struct test *const *family = test_families; *family != NULL; family++)
        for (const struct test *test = *family; test->name != NULL; test++)
            failed += !run_test(test, ++number);
    print("1..%u\n", number);
    monitor_exit(failed != 0);
}
