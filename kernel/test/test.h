// SPDX-License-Identifier: BSD-2-Clause
//
// Functional tests inside the kernel: an image of its own with the kernel's objects unchanged,
// in which this runner replaces that of bench/. A test is a function in its thread
// (priority RUNNER_PRIORITY).
#ifndef TEST_H
#define TEST_H

#include <stdint.h>

#include "programs.h"
#include "syscall.h"

#define RUNNER_PRIORITY 100

struct test {
    const char *name;
    void (*run)(void);
};
#define END_OF_TESTS {0}

// Says where and what when the condition does not hold; the test goes on and has failed.
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(seen, expected) \
    check_equal((int64_t)(seen), (int64_t)(expected), #seen, __FILE__, __LINE__)
void check(int holds, const char *condition, const char *file, int line);
void check_equal(int64_t seen, int64_t expected, const char *expression, const char *file,
                 int line);

// A kernel thread, created, started and, after the test, freed by the runner.
typedef void test_body(void *argument);
struct thread *test_thread(test_body *body, void *argument, uint64_t priority);
// The same, not yet started.
struct thread *test_thread_created(test_body *body, void *argument, uint64_t priority);
// An object, destroyed by the runner after the test.
void *test_object(enum object_type type, uint64_t a, uint64_t b);
// One of each kind that threads wait at or share, for a program; ends with NULL.
#define TEST_ONE_OF_EACH 7
void test_one_of_each(struct object *objects[TEST_ONE_OF_EACH]);

// The order in which things happened: threads note a letter each, the test compares.
void note(char letter);
int noted(const char *letters); // and forgets them

#if CONFIG_USERSPACE
// A program of test/user in an address space of its own, started. Handle 0 is its own thread,
// handles 1... are `objects` (ends with NULL; may be NULL itself).
struct thread *test_program(enum program program, uint64_t priority, struct object *const *objects);
// The same, not yet started.
struct thread *test_program_created(enum program program, uint64_t priority,
                                    struct object *const *objects);
// A further thread in the space of a program, dead until created, and its handle there.
struct thread *test_spare(const struct thread *program, unsigned handle);
// The page that all programs share at USER_SHARED, zeroed before each test.
uint64_t *test_shared(void);
#endif

#endif
