// SPDX-License-Identifier: BSD-2-Clause
//
// Sets of events, by Zephyr's keys. A waiter empties the set before it waits (reset), so that every
// turn begins alike.
#include "zephyr.h"

#define EVENTS 3 // two of them, so that all is more than any

PART void post(struct props *p)
{
    events_post(p->object, EVENTS);
}

PART void set(struct props *p)
{
    events_set(p->object, EVENTS);
}

PART void see_any(struct props *p)
{
    events_wait(p->object, EVENTS, 0, FOREVER);
}

PART void see_all(struct props *p)
{
    events_wait_all(p->object, EVENTS, 0, FOREVER);
}

PART void await_any(struct props *p)
{
    events_wait(p->object, EVENTS, 1, FOREVER);
}

PART void await_all(struct props *p)
{
    events_wait_all(p->object, EVENTS, 1, FOREVER);
}

static void post_turns(void *arg, uint64_t turns)
{
    repeat(arg, turns, post);
}

static void set_turns(void *arg, uint64_t turns)
{
    repeat(arg, turns, set);
}

static void wait_turns(void *arg, uint64_t turns)
{
    repeat(arg, turns, see_any);
}

static void wait_all_turns(void *arg, uint64_t turns)
{
    repeat(arg, turns, see_all);
}

static int64_t set_pass(void *arg)
{
    return time_to_peer(arg, set);
}

static int64_t post_pass(void *arg)
{
    return time_to_peer(arg, post);
}

static int64_t wait_pass(void *arg)
{
    return time_to_peer(arg, await_any);
}

static int64_t wait_all_pass(void *arg)
{
    return time_to_peer(arg, await_all);
}

static void waiter(struct bench_shared *shared)
{
    stamp_after(shared, await_any);
}

static void waiter_for_all(struct bench_shared *shared)
{
    stamp_after(shared, await_all);
}

static void setter(struct bench_shared *shared)
{
    stamp_before(shared, set);
}

static void poster(struct bench_shared *shared)
{
    stamp_before(shared, post);
}

#define EMPTY_SET .objects = {{OBJECT_event_set, 0, 0}}
#define FULL_SET .objects = {{OBJECT_event_set, EVENTS, 0}}

const struct circle event_set_circles[] = {
    {IMMEDIATE("events.post.immediate", "Post events that nobody waits for", "events_post"),
     EMPTY_SET, .sides = ALL_ALONE, .turns = post_turns},
    {IMMEDIATE("events.set.immediate", "Set events that nobody waits for", "events_set"), EMPTY_SET,
     .sides = ALL_ALONE, .turns = set_turns},
    {IMMEDIATE("events.wait.immediate", "Wait for any of two events that are there", "events_wait"),
     FULL_SET, .sides = ALL_ALONE, .turns = wait_turns},
    {IMMEDIATE("events.wait_all.immediate", "Wait for all of two events that are there",
               "events_wait_all"),
     FULL_SET, .sides = ALL_ALONE, .turns = wait_all_turns},
    {BLOCK("events.wait.blocking",
           "Wait for any event where there is none: until a less urgent thread runs", "events_wait",
           "events_set", "subtracted"),
     EMPTY_SET, .sides = ALL_PAIRS, .pass = wait_pass, .peer = setter},
    {WAKE("events.set.wake+ctx", "Set events that a more urgent thread waits for: until it runs",
          "events_set", "events_wait", "subtracted"),
     EMPTY_SET, .sides = ALL_PAIRS, .pass = set_pass, .peer = waiter},
    {BLOCK("events.wait_all.blocking",
           "Wait for all events where there is none: until a less urgent thread runs",
           "events_wait_all", "events_post", "left in"),
     EMPTY_SET, .sides = ALL_PAIRS, .pass = wait_all_pass, .peer = poster},
    {WAKE("events.post.wake+ctx",
          "Post the events that a more urgent thread waits for: until it runs", "events_post",
          "events_wait_all", "left in"),
     EMPTY_SET, .sides = ALL_PAIRS, .pass = post_pass, .peer = waiter_for_all},
    END_OF_FAMILY,
};
