// SPDX-License-Identifier: BSD-2-Clause
//
// The three-state lock: free, held, held with sleepers. Without contention it takes one atomic
// instruction each way; it enters the kernel only if a thread may sleep. For threads of one space.
#ifndef LINUX_CIRCLES_FUTEX_LOCK_H
#define LINUX_CIRCLES_FUTEX_LOCK_H

#include "futex.h"

enum { FREE, HELD, SLEEPERS };

// Whether the lock was not free at once.
static inline int futex_lock(_Atomic uint32_t *word)
{
    uint32_t seen = FREE;
    if (atomic_compare_exchange_strong_explicit(word, &seen, HELD, memory_order_acquire,
                                                memory_order_relaxed))
        return 0;
    // Whoever has waited cannot know whether others still do, so it leaves SLEEPERS behind.
    while (atomic_exchange_explicit(word, SLEEPERS, memory_order_acquire) != FREE)
        futex_wait(word, SLEEPERS, FUTEX_PRIVATE_FLAG);
    return 1;
}

static inline void futex_unlock(_Atomic uint32_t *word)
{
    if (atomic_exchange_explicit(word, FREE, memory_order_release) == SLEEPERS)
        futex_wake(word, FUTEX_PRIVATE_FLAG);
}

#endif
