// SPDX-License-Identifier: BSD-2-Clause
//
// The moment at which a thread on another CPU ran: it stamps, and the one that woke it waits for
// the stamp by reading memory.
#ifndef LINUX_CIRCLES_STAMP_H
#define LINUX_CIRCLES_STAMP_H

#include "spin.h"

struct stamp {
    uint64_t clock;
    _Atomic uint64_t number; // of stamps so far
};

static inline void stamp_now(struct stamp *stamp)
{
    stamp->clock = clock_end();
    atomic_fetch_add_explicit(&stamp->number, 1, memory_order_release);
}

static inline uint64_t stamp_number(const struct stamp *stamp)
{
    return atomic_load_explicit(&stamp->number, memory_order_relaxed);
}

// The clock of the first stamp after `number` of them.
static inline uint64_t stamp_after(const struct stamp *stamp, uint64_t number)
{
    SPIN_UNTIL(atomic_load_explicit(&stamp->number, memory_order_acquire) != number)
    return stamp->clock;
}

#endif
