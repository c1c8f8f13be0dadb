// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of circles, in the order in which `list` shows them.
#include "../circle.h"

#ifdef CYC_FIXTURES
#define FIXTURES(FAMILY) FAMILY(fixture_circles)
#else
#define FIXTURES(FAMILY)
#endif

#define FAMILIES(FAMILY)      \
    FAMILY(floor_circles)     \
    FAMILY(memory_circles)    \
    FAMILY(lock_circles)      \
    FAMILY(coroutine_circles) \
    FAMILY(thread_circles)    \
    FAMILY(signal_circles)    \
    FAMILY(wake_circles)      \
    FAMILY(channel_circles)   \
    FAMILY(queue_circles)     \
    FAMILY(futex_circles)     \
    FAMILY(io_uring_circles)  \
    FAMILY(microkit_circles)  \
    FAMILY(timer_circles)     \
    FIXTURES(FAMILY)

#define DECLARE(family) extern const struct circle family[];
FAMILIES(DECLARE)

#define NAME(family) family,
const struct circle *const families[] = {FAMILIES(NAME) NULL};
