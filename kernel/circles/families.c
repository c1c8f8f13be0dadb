// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of circles, in the order in which they run.
#include "../circle.h"

extern const struct circle floor_circles[];
extern const struct circle thread_circles[];
extern const struct circle semaphore_circles[];
extern const struct circle endpoint_circles[];
extern const struct circle notification_circles[];

const struct circle *const families[] = {
    floor_circles,
    thread_circles,
    semaphore_circles,
    endpoint_circles,
    notification_circles,
    NULL,
};
