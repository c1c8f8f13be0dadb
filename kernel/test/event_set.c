// SPDX-License-Identifier: BSD-2-Clause
#include "test.h"

struct listener {
    struct event_set *set;
    uint64_t events;
    int64_t (*wait)(struct event_set *, uint64_t, uint64_t, uint64_t);
    int64_t result;
    char letter;
};

static void listen(void *argument)
{
    struct listener *l = argument;
    l->result = l->wait(l->set, l->events, 0, FOREVER);
    note(l->letter);
}

static void any_and_all(void)
{
    struct event_set *e = test_object(OBJECT_event_set, 0b0101, 0);
    CHECK_EQUAL(events_wait(e, 0b1100, 0, 0), 0b0100);
    CHECK_EQUAL(events_wait(e, 0b1010, 0, 0), ERROR_BUSY);
    CHECK_EQUAL(events_wait_all(e, 0b0101, 0, 0), 0b0101);
    CHECK_EQUAL(events_wait_all(e, 0b0111, 0, 0), ERROR_BUSY);
}

static void post_adds_set_replaces_clear_takes(void)
{
    struct event_set *e = test_object(OBJECT_event_set, 0b0001, 0);
    events_post(e, 0b0010);
    CHECK_EQUAL(events_wait(e, EVENTS_ALL, 0, 0), 0b0011);
    events_clear(e, 0b0001);
    CHECK_EQUAL(events_wait(e, EVENTS_ALL, 0, 0), 0b0010);
    events_set(e, 0b1000);
    CHECK_EQUAL(events_wait(e, EVENTS_ALL, 0, 0), 0b1000);
    CHECK_EQUAL(events_wait(e, EVENTS_ALL, 1, 0), ERROR_BUSY);
    CHECK_EQUAL(e->present, 0);
}

static void bad_events_are_refused(void)
{
    struct event_set *e = test_object(OBJECT_event_set, 1, 0);
    CHECK_EQUAL(events_wait(e, 0, 0, FOREVER), ERROR_ARGUMENT);
    CHECK_EQUAL(events_wait_all(e, 1ul << 32, 0, FOREVER), ERROR_ARGUMENT);
    CHECK_EQUAL(events_post(e, 1ul << 32), ERROR_ARGUMENT);
    CHECK_EQUAL(events_set(e, ~0ul), ERROR_ARGUMENT);
    CHECK_EQUAL(e->present, 1);
}

static void all_are_needed_and_enough(void)
{
    struct event_set *e = test_object(OBJECT_event_set, 0, 0);
    static struct listener l;
    l = (struct listener){e, 0b11, events_wait_all, 0, 'a'};
    test_thread(listen, &l, RUNNER_PRIORITY + 1);
    events_post(e, 0b101);
    CHECK(noted(""));
    events_clear(e, 0b001);
    events_post(e, 0b010);
    CHECK(noted(""));
    events_post(e, 0b001);
    CHECK(noted("a"));
    CHECK_EQUAL(l.result, 0b11);
}

static void listen_briefly(void *set)
{
    CHECK_EQUAL(events_wait(set, 1, 0, 100), ERROR_TIMEOUT);
    note('t');
}

static void wait_times_out_and_is_forgotten(void)
{
    struct event_set *e = test_object(OBJECT_event_set, 0, 0);
    struct thread *t = test_thread(listen_briefly, e, RUNNER_PRIORITY + 1);
    thread_join(t, FOREVER);
    events_post(e, 1);
    CHECK(noted("t"));
}

// Four waiters of which one post satisfies three: the more urgent first, equals in order.
static void one_post_wakes_all_it_satisfies(void)
{
    struct event_set *e = test_object(OBJECT_event_set, 0, 0);
    static struct listener l[4];
    l[0] = (struct listener){e, 0b001, events_wait, 0, 'a'};
    l[1] = (struct listener){e, 0b110, events_wait, 0, 'b'};
    l[2] = (struct listener){e, 0b101, events_wait_all, 0, 'c'};
    l[3] = (struct listener){e, 0b011, events_wait_all, 0, 'd'};
    static const uint64_t above[] = {1, 1, 1, 2};
    for (int i = 0; i < 4; i++)
        test_thread(listen, &l[i], RUNNER_PRIORITY + above[i]);
    events_post(e, 0b011);
    CHECK(noted("dab"));
    CHECK_EQUAL(l[1].result, 0b010);
    events_post(e, 0b100);
    CHECK(noted("c"));
}

static void take_it_away(void *argument)
{
    struct listener *l = argument;
    events_wait(l->set, l->events, 0, FOREVER);
    events_set(l->set, 0);
    note('-');
}

// The first to run empties the set: the second was judged before.
static void all_are_judged_by_the_same_set(void)
{
    struct event_set *e = test_object(OBJECT_event_set, 0, 0);
    static struct listener l;
    l = (struct listener){e, 1, events_wait, 0, 'a'};
    test_thread(take_it_away, &l, RUNNER_PRIORITY + 2);
    test_thread(listen, &l, RUNNER_PRIORITY + 1);
    events_post(e, 1);
    CHECK(noted("-a"));
    CHECK_EQUAL(e->present, 0);
}

static void aborted_listener_is_forgotten(void)
{
    struct event_set *e = test_object(OBJECT_event_set, 0, 0);
    static struct listener l;
    l = (struct listener){e, 1, events_wait, 0, 'a'};
    struct thread *t = test_thread(listen, &l, RUNNER_PRIORITY + 1);
    thread_abort(t);
    events_post(e, 1);
    CHECK(noted(""));
}

const struct test event_set_tests[] = {
    {"any event, and all events", any_and_all},
    {"post adds, set replaces, clear takes", post_adds_set_replaces_clear_takes},
    {"bad events are refused", bad_events_are_refused},
    {"all events are needed and enough", all_are_needed_and_enough},
    {"a wait for events times out and is forgotten", wait_times_out_and_is_forgotten},
    {"one post wakes all it satisfies", one_post_wakes_all_it_satisfies},
    {"all waiters are judged by the same set", all_are_judged_by_the_same_set},
    {"an aborted waiter for events is forgotten", aborted_listener_is_forgotten},
    END_OF_TESTS,
};
