// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of circles, in the order in which `list` shows them.
#include "../circle.h"

#define FAMILIES(FAMILY)      \
    FAMILY(floor_circles)     \
    FAMILY(thread_circles)    \
    FAMILY(coroutine_circles) \
    FAMILY(signal_circles)    \
    FAMILY(channel_circles)   \
    FAMILY(queue_circles)     \
    FAMILY(futex_circles)     \
    FAMILY(microkit_circles)

#define DECLARE(family) extern const struct circle family[];
FAMILIES(DECLARE)

#define NAME(family) family,
const struct circle *const families[] = {FAMILIES(NAME) NULL};
