// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of circles, in the order in which `list` shows them.
#include "../circle.h"

#define FAMILIES(X)                                                                                                    \
    X(floor_circles)                                                                                                   \
    X(channel_circles)                                                                                                 \
    X(queue_circles)                                                                                                   \
    X(futex_circles)

#define DECLARE(family) extern const struct circle family[];
FAMILIES(DECLARE)

#define NAME(family) family,
const struct circle *const families[] = {FAMILIES(NAME) NULL};
