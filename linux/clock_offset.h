// SPDX-License-Identifier: BSD-2-Clause
//
// How far the clocks of a visit's two CPUs may lie apart, which is the error of an interval that
// begins on one and ends on the other.
#ifndef LINUX_CLOCK_OFFSET_H
#define LINUX_CLOCK_OFFSET_H

#include "host.h"
#include "linux_circle.h"

// Whether the interval of this circle has an end on either CPU.
int clock_offset_matters(const struct linux_circle *circle);
// Bounds the offset as it is now, by exchanges with a thread on the peers' CPU that ends before
// this returns. The peers of the circle must be asleep or of lower priority than `self->server`.
void clock_offset_bound(const struct linux_circle *self, const struct options *options);
// The most by which one clock may be ahead of the other by all calls so far, in ns.
int64_t clock_offset_ns(void);

#endif
