// SPDX-License-Identifier: BSD-2-Clause
//
// Sets of events, as Zephyr's k_event: threads wait until any or all of some events are in the set.
// Events are bits, 0..EVENTS_ALL.
#ifndef EVENT_SET_H
#define EVENT_SET_H

#include <stdint.h>

#include "list.h"
#include "object.h"

#define EVENTS_ALL 0xffffffffu

struct event_set {
    struct object object;
    struct link waiters; // their wait.event_set
    uint64_t present;
};

void event_set_init(struct event_set *e, uint64_t present, uint64_t unused);

// Adds events to the set (post), replaces it (set), or removes events (clear). Wakes the threads
// whose events are there now, the most urgent first; the events stay in the set.
int64_t events_post(struct event_set *e, uint64_t events);
int64_t events_set(struct event_set *e, uint64_t events);
int64_t events_clear(struct event_set *e, uint64_t events);
// Waits until any (wait) or all (wait_all) of `events` are in the set; returns those that are. With
// `reset` the set is emptied first. ERROR_ARGUMENT if `events` is 0.
int64_t events_wait(struct event_set *e, uint64_t events, uint64_t reset, uint64_t timeout_ticks);
int64_t events_wait_all(struct event_set *e, uint64_t events, uint64_t reset,
                        uint64_t timeout_ticks);

#endif
