// SPDX-License-Identifier: BSD-2-Clause
//
// Sets of events, as Zephyr's k_event: threads wait until any or all of the events they name are in the set.
// A set and what is named of it are bits, 0..EVENTS_ALL.
#ifndef EVENT_SET_H
#define EVENT_SET_H

#include <stdint.h>

#include "list.h"
#include "object.h"

#define EVENTS_ALL 0xffffffffu

// A waiter keeps in wait[0] the events it named, in wait[1] whether it needs all of them.
struct event_set {
    struct object object;
    struct link waiters;
    uint64_t present;
};

void event_set_init(struct event_set *e, uint64_t present, uint64_t unused);

// Adds events to the set (post), replaces it (set), or takes events out (clear). Those whom the new set satisfies are
// woken, the most urgent first; the events stay in the set.
int64_t events_post(struct event_set *e, uint64_t events);
int64_t events_set(struct event_set *e, uint64_t events);
int64_t events_clear(struct event_set *e, uint64_t events);
// Waits until any (wait) or all (wait_all) of `events` are in the set; returns those that are. With `reset` the set is
// emptied first. ERROR_ARGUMENT where no event is named.
int64_t events_wait(struct event_set *e, uint64_t events, uint64_t reset, uint64_t timeout_ticks);
int64_t events_wait_all(struct event_set *e, uint64_t events, uint64_t reset, uint64_t timeout_ticks);

#endif
