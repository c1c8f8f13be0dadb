// SPDX-License-Identifier: BSD-2-Clause
//
// Condition variables, as Zephyr's k_condvar. A waiter that is signalled goes straight to the mutex: it owns it when it
// runs, or stands among its waiters without having run in between.
#ifndef CONDVAR_H
#define CONDVAR_H

#include <stdint.h>

#include "list.h"
#include "object.h"

struct mutex;

// A waiter keeps in wait[0] the mutex that it gave up.
struct condvar {
    struct object object;
    struct link waiters;
};

void condvar_init(struct condvar *c, uint64_t unused_a, uint64_t unused_b);
// Gives up the mutex, waits to be signalled, and has the mutex again when it returns, also with ERROR_TIMEOUT.
// ERROR_DENIED unless the caller holds the mutex, once.
int64_t condvar_wait(struct condvar *c, struct mutex *m, uint64_t timeout_ticks);
int64_t condvar_signal(struct condvar *c);
int64_t condvar_broadcast(struct condvar *c);

#endif
