// SPDX-License-Identifier: BSD-2-Clause
//
// Mutexes: recursive, with priority inheritance along chains of waiting owners. A thread that ends gives back what it
// holds. Nothing but thread.c and condvar.c uses the second half.
#ifndef MUTEX_H
#define MUTEX_H

#include <stdint.h>

#include "list.h"
#include "object.h"
#include "thread.h"

struct mutex {
    struct object object;
    struct link waiters;
    struct thread *owner; // NULL: free
    uint64_t depth;       // times its owner has locked it
    struct mutex *held;   // next in the list of what its owner holds, the latest first
};

void mutex_init(struct mutex *m, uint64_t unused_a, uint64_t unused_b);
void mutex_end(struct mutex *m);

// Once more where the caller has it. While others wait, the owner runs at the level of the most urgent of them.
int64_t mutex_lock(struct mutex *m, uint64_t timeout_ticks);
// ERROR_DENIED where the caller does not hold it. The last unlock hands it to the first waiter.
int64_t mutex_unlock(struct mutex *m);

// Interrupts must be off, and stay off.

// Makes `t` the owner of a free mutex.
static inline void mutex_own(struct mutex *m, struct thread *t)
{
    m->owner = t;
    m->depth = 1;
    m->held = t->held;
    t->held = m;
}
// Moves `t`, which is blocked elsewhere, to the waiters of a mutex that has an owner.
void mutex_queue(struct mutex *m, struct thread *t);
// Takes it from its owner. Returns the first waiter, which owns it now and is to be woken, or NULL.
struct thread *mutex_release(struct mutex *m);
// `t` has stopped waiting for the mutex it waited for: aborted or timed out.
void mutex_withdraw(struct thread *t);
// `t` has ended.
void mutex_abandon(struct thread *t);
// Gives `t` the level due to it by its own priority and by those who wait for what it holds, and the same along the
// chain of owners.
void mutex_settle(struct thread *t);

#endif
