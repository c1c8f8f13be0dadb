// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of tests.
#include "test.h"

extern const struct test scheduler_tests[];
extern const struct test timeout_tests[];
extern const struct test semaphore_tests[];
extern const struct test endpoint_tests[];
extern const struct test scheduling_tests[];
extern const struct test program_tests[];

const struct test *const test_families[] = {
    scheduler_tests,
    timeout_tests,
    semaphore_tests,
    endpoint_tests,
#if CONFIG_MCS
    scheduling_tests,
#endif
#if CONFIG_USERSPACE
    program_tests,
#endif
    NULL,
};
