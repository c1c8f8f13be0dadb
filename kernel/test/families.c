// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of tests.
#include "board.h"
#include "test.h"

extern const struct test scheduler_tests[];
extern const struct test timeout_tests[];
extern const struct test semaphore_tests[];
extern const struct test waiting_tests[];
extern const struct test mutex_tests[];
extern const struct test condvar_tests[];
extern const struct test queue_tests[];
extern const struct test event_set_tests[];
extern const struct test heap_tests[];
extern const struct test objcore_tests[];
extern const struct test endpoint_tests[];
extern const struct test scheduling_tests[];
extern const struct test program_tests[];
extern const struct test component_tests[];
extern const struct test brand_tests[];
extern const struct test smp_tests[];

const struct test *const test_families[] = {
#if CONFIG_SMP // the others count on time that stands still while they run
    smp_tests,  semaphore_tests, queue_tests, event_set_tests, endpoint_tests,
#if CONFIG_USERSPACE && BOARD_CLOCK_HZ != 0 // simulated RTL takes minutes for these
    heap_tests, program_tests,
#endif
#else
    scheduler_tests,
    timeout_tests,
    semaphore_tests,
    waiting_tests,
    mutex_tests,
    condvar_tests,
    queue_tests,
    event_set_tests,
    heap_tests,
#if CONFIG_OBJCORE
    objcore_tests,
#endif
    endpoint_tests,
#if CONFIG_MCS
    scheduling_tests,
#endif
#if CONFIG_USERSPACE
    component_tests,
    brand_tests,
    program_tests,
#endif
#endif
    NULL,
};
