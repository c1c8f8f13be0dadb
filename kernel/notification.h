// SPDX-License-Identifier: BSD-2-Clause
//
// Notifications: a word of signals, or-ed together until somebody waits for them; as seL4's.
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
// Returns all signals that came, and forgets them; waits where there are none.
int64_t notification_wait(struct notification *n);
// The same, but 0 where there are none.
int64_t notification_poll(struct notification *n);
// From now on a receive on the endpoint is ended by a signal too.
void notification_bind(struct notification *n, struct endpoint *e);

#endif
