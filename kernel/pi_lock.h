// SPDX-License-Identifier: BSD-2-Clause
//
// Locks with priority inheritance, without the calls: objects/mutex.c and objects/condvar.c make
// those. While others wait for a lock, its owner runs at the level of the most urgent of them, and
// so does who owns what the owner waits for, along the whole chain (Sha, Rajkumar, Lehoczky 1990).
// Interrupts must be off in every function here.
#ifndef PI_LOCK_H
#define PI_LOCK_H

#include <stdint.h>

#include "thread.h"

// Begins as every object does, so that a mutex is one and nothing else.
struct pi_lock {
    struct object object;
    struct link waiters;
    struct thread *owner; // NULL: free
    uint64_t depth;       // how often its owner has taken it
    struct pi_lock *held; // next in the list of what its owner holds, the latest first
};

// Makes `t` the owner of a free lock.
static inline void pi_lock_own(struct pi_lock *lock, struct thread *t)
{
    lock->owner = t;
    lock->depth = 1;
    lock->held = t->held;
    t->held = lock;
}
// Blocks the running thread until it owns the lock, which another thread owns; ERROR_TIMEOUT, or
// ERROR_BUSY if the timeout is 0. Restores the interrupt state `irq`; to be called last.
int64_t pi_lock_await(struct pi_lock *lock, uint64_t timeout_ticks, uint64_t irq);
// Moves `t`, which is blocked elsewhere, to the waiters of a lock that has an owner.
void pi_lock_requeue(struct pi_lock *lock, struct thread *t);
// Takes the lock from its owner. Returns the first waiter, which owns it now and is to be woken, or
// NULL.
struct thread *pi_lock_release(struct pi_lock *lock);
// Takes the lock from its owner, if it has one; nobody waits for it.
void pi_lock_end(struct pi_lock *lock);

// Gives `t` the level due to it by its own priority and by those who wait for what it holds, and
// the same along the chain of owners.
void pi_lock_settle(struct thread *t);
// `t` does not wait for its lock any more: it is aborted or timed out.
void pi_lock_withdraw(struct thread *t);
// `t` has ended: its locks go to their first waiters.
void pi_lock_abandon(struct thread *t);

#endif
