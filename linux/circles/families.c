// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of circles, in the order in which `list` shows them.
#include "../circle.h"

extern const struct circle floor_circles[];
extern const struct circle pipe_circles[];

const struct circle *const families[] = {
    floor_circles,
    pipe_circles,
    NULL,
};
