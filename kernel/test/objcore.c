// SPDX-License-Identifier: BSD-2-Clause
//
// Object cores and statistics (objcore=on).
#include "test.h"

#if CONFIG_OBJCORE
static uint64_t listed(enum object_type type)
{
    uint64_t count = 0;
    for (const struct object *o = NULL; (o = object_next(type, o)) != NULL; count++)
        CHECK_EQUAL(o->type, type);
    return count;
}

static void do_nothing(void *argument)
{
    (void)argument;
}

static void objects_stand_in_the_list_of_their_type(void)
{
    struct object *one = object_create(OBJECT_queue, 0, 0),
                  *two = object_create(OBJECT_queue, 0, 0);
    CHECK(object_next(OBJECT_queue, NULL) == one);
    CHECK(object_next(OBJECT_queue, one) == two);
    object_destroy(one);
    CHECK(object_next(OBJECT_queue, NULL) == two);
    CHECK_EQUAL(listed(OBJECT_queue), 1);
    object_destroy(two);
    CHECK_EQUAL(listed(OBJECT_queue), 0);
}

static void threads_are_listed_too(void)
{
    uint64_t before = listed(OBJECT_thread);
    CHECK(before > 0);
    test_thread(do_nothing, NULL, RUNNER_PRIORITY + 1);
    CHECK_EQUAL(listed(OBJECT_thread), before + 1);
}

static void yield_forever(void *argument)
{
    (void)argument;
    for (;;)
        thread_yield();
}

static void windows_add_up_to_the_time_passed(void)
{
    struct thread *t = test_thread(yield_forever, NULL, RUNNER_PRIORITY);
    thread_yield();
    struct usage mine = current->usage, other = t->usage;
    for (int i = 0; i < 10; i++)
        thread_yield();
    uint64_t my_cyc = current->usage.total_cyc - mine.total_cyc,
             its_cyc = t->usage.total_cyc - other.total_cyc;
    CHECK_EQUAL(current->usage.windows - mine.windows, 10);
    CHECK_EQUAL(t->usage.windows - other.windows, 10);
    CHECK_EQUAL(my_cyc + its_cyc, current->usage.started_cyc - mine.started_cyc);
    CHECK(t->usage.longest_cyc > 0 && t->usage.longest_cyc <= t->usage.total_cyc);
    CHECK(its_cyc <= 10 * t->usage.longest_cyc);
}

const struct test objcore_tests[] = {
    {"objects are in the list of their type", objects_stand_in_the_list_of_their_type},
    {"threads are listed, too", threads_are_listed_too},
    {"windows add up to the time passed", windows_add_up_to_the_time_passed},
    END_OF_TESTS,
};
#endif
