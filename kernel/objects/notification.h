// SPDX-License-Identifier: BSD-2-Clause
//
// Notifications, as seL4's: a word of signals, or-ed together until a thread takes them.
#ifndef NOTIFICATION_H
#define NOTIFICATION_H

#include <stdint.h>

#include "list.h"
#include "object.h"

struct endpoint;

struct notification {
    struct object object;
    struct link waiters;
    uint64_t signal;           // bits not yet received
    struct endpoint *endpoint; // bound: a receive on it takes signals too; may be NULL
};

void notification_init(struct notification *n, uint64_t a, uint64_t b);
// Wakes the first waiter with the badge (a kernel thread's is 1), or keeps it for the next.
int64_t notification_signal(struct notification *n);
// Takes all signals; waits if there are none.
int64_t notification_wait(struct notification *n);
// The same without waiting; 0 if there are none.
int64_t notification_poll(struct notification *n);
// From now on signals also end a receive on the endpoint.
void notification_bind(struct notification *n, struct endpoint *e);

#endif
