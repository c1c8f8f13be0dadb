// SPDX-License-Identifier: BSD-2-Clause
//
// Mutexes: recursive, with priority inheritance (pi_lock.h). A thread that ends releases
// those that it holds.
#ifndef MUTEX_H
#define MUTEX_H

#include <stdint.h>

#include "object.h"
#include "pi_lock.h"

struct mutex {
    struct pi_lock lock;
};

void mutex_init(struct mutex *m, uint64_t unused_a, uint64_t unused_b);
void mutex_end(struct mutex *m);

// Takes the mutex, again if the caller has it already; ERROR_BUSY or ERROR_TIMEOUT.
int64_t mutex_lock(struct mutex *m, uint64_t timeout_ticks);
// The last unlock hands it to the first waiter. ERROR_DENIED if the caller does not hold it.
int64_t mutex_unlock(struct mutex *m);

#endif
