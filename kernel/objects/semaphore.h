// SPDX-License-Identifier: BSD-2-Clause
//
// Counting semaphores with a limit, as Zephyr's k_sem.
#ifndef SEMAPHORE_H
#define SEMAPHORE_H

#include <stdint.h>

#include "list.h"
#include "object.h"

struct semaphore {
    struct object object;
    struct link waiters;
    uint64_t count;
    uint64_t limit;
};

void semaphore_init(struct semaphore *s, uint64_t count, uint64_t limit);
// Wakes the first waiter, or counts up to the limit.
int64_t semaphore_give(struct semaphore *s);
// Counts down, or waits; ERROR_BUSY if the timeout is 0, or ERROR_TIMEOUT.
int64_t semaphore_take(struct semaphore *s, uint64_t timeout_ticks);

#endif
