// SPDX-License-Identifier: BSD-2-Clause
//
// Locks between harts: tickets, so that harts get a lock in the order in which they came. trap.S
// takes and gives them, too.
#ifndef TICKET_LOCK_H
#define TICKET_LOCK_H

#include <stdint.h>

#include "config.h"

struct lock {
    uint32_t next, serving;
#if CONFIG_FINE
    struct lock *also; // which its holder took before it, or NULL
#endif
};

static inline void lock_take(struct lock *lock)
{
    uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket)
        ;
}

static inline void lock_give(struct lock *lock)
{
    __atomic_store_n(&lock->serving, lock->serving + 1, __ATOMIC_RELEASE);
}

#endif
