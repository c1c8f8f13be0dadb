// SPDX-License-Identifier: BSD-2-Clause
//
// Condition variables, as Zephyr's k_condvar. A signalled waiter goes straight to the mutex: it
// owns the mutex when it runs, or moves to the mutex's waiters without having run.
#ifndef CONDVAR_H
#define CONDVAR_H

#include <stdint.h>

#include "list.h"
#include "object.h"

struct mutex;

struct condvar {
    struct object object;
    struct link waiters; // their wait.condvar
};

void condvar_init(struct condvar *c, uint64_t unused_a, uint64_t unused_b);
// Gives up the mutex, waits for a signal, and owns the mutex again on return, also with
// ERROR_TIMEOUT. ERROR_DENIED unless the caller has locked the mutex once; ERROR_BUSY if the
// timeout is 0.
int64_t condvar_wait(struct condvar *c, struct mutex *m, uint64_t timeout_ticks);
int64_t condvar_signal(struct condvar *c);
int64_t condvar_broadcast(struct condvar *c);

#endif
