// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of circles, in the order in which they run.
#include "../circle.h"

extern const struct circle floor_circles[];
extern const struct circle thread_circles[];
extern const struct circle semaphore_circles[];

const struct circle *const families[] = {
    floor_circles,
    thread_circles,
    semaphore_circles,
    NULL,
};
