// SPDX-License-Identifier: BSD-2-Clause
//
// Microkit's four sequences (seed 000) between two protection domains, here processes. The server is of
// higher priority, as there. A protected call is a futex hand-off, a notification an eventfd, an event
// loop a blocking read of it.
#define _GNU_SOURCE
#include <sys/eventfd.h>
#include <unistd.h>

#include "../../core/coroutine.h"
#include "contract.h"
#include "futex.h"

#define STACK_BYTES 16384

enum owner { CALLER, CALLED };

static _Atomic uint32_t *endpoint; // who has the call
static int to_server, to_client;   // eventfds

static void serve_calls(const struct circle *self)
{
    (void)self;
    for (;;) {
        while (atomic_load_explicit(endpoint, memory_order_acquire) != CALLED)
            futex_wait(endpoint, CALLER, 0);
        atomic_store_explicit(endpoint, CALLER, memory_order_release);
        futex_wake(endpoint, 0);
    }
}

static void calls(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        atomic_store_explicit(endpoint, CALLED, memory_order_release);
        futex_wake(endpoint, 0);
        while (atomic_load_explicit(endpoint, memory_order_acquire) != CALLER)
            futex_wait(endpoint, CALLED, 0);
    }
}

static void set_up_calls(const struct circle *self)
{
    endpoint = shared_alloc(sizeof *endpoint);
    peer_start(self, serve_calls);
}

static inline void notify(int eventfd_)
{
    const uint64_t one = 1;
    must(write(eventfd_, &one, sizeof one), "write");
}

static inline void await(int eventfd_)
{
    uint64_t count;
    must(read(eventfd_, &count, sizeof count), "read");
}

static void serve_notifications(const struct circle *self)
{
    (void)self;
    for (;;) {
        await(to_server);
        notify(to_client);
    }
}

static void set_up_notifications(const struct circle *self)
{
    to_server = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    to_client = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    peer_start(self, serve_notifications);
}

static void notifications(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        notify(to_server);
        await(to_client);
    }
}

// The client's worker is a coroutine; its event loop, the root, is the turns function. A turn begins
// where the loop resumes the worker, so that a test ends with both in their places.
static _Alignas(16) uint8_t stack[STACK_BYTES];
static void *root_place, *worker_place;

static void bare_worker(void *arg)
{
    (void)arg;
    for (;;) {
        notify(to_server);
        cyc_coroutine_switch(&worker_place, root_place);
    }
}

static void set_up_bare(const struct circle *self)
{
    set_up_notifications(self);
    worker_place = cyc_coroutine_place(stack, sizeof stack, bare_worker, NULL);
}

static void bare_waits(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        cyc_coroutine_switch(&root_place, worker_place);
        await(to_client);
    }
}

static struct cyc_coroutines set;
static struct cyc_coroutine worker;
static struct cyc_coroutine_semaphore reply;

static void library_worker(void *arg)
{
    (void)arg;
    for (;;) {
        cyc_coroutine_wait(&set, &reply);
        notify(to_server);
    }
}

static void set_up_library(const struct circle *self)
{
    set_up_notifications(self);
    cyc_coroutines_init(&set);
    must(cyc_coroutine_spawn(&set, &worker, stack, sizeof stack, library_worker, NULL), "cyc_coroutine_spawn");
    cyc_coroutine_yield(&set); // to its wait
}

static void library_waits(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        cyc_coroutine_signal(&set, &reply);
        await(to_client);
    }
}

#define MICROKIT(key_, title_, sequence_, from_, to_, entries_, setup_, turns_)                                        \
    {                                                                                                                  \
        .contract = {.key = "microkit." key_,                                                                          \
                     .title = title_,                                                                                  \
                     .sequence = sequence_,                                                                            \
                     .interval = "round_trip",                                                                         \
                     .from = from_,                                                                                    \
                     .to = to_,                                                                                        \
                     .expect = EXPECT_ROUND_TRIP(entries_, cross, server_higher),                                      \
                     .params = PARAMS({"space", "cross"}, {"priority", "server_higher"}),                              \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, PLACED(cross, server_higher),                                                \
    }
#define SERVER_PART                                                                                                    \
    "server: preempts client, returns to its event loop", "server: notify", "server: blocks in its event loop"

const struct circle microkit_circles[] = {
    MICROKIT("ppcall", "Protected procedure call and return",
             SEQUENCE("client: store, FUTEX_WAKE", "server: preempts client, returns from FUTEX_WAIT",
                      "server: store, FUTEX_WAKE", "server: blocks in FUTEX_WAIT", "client: returns from FUTEX_WAKE"),
             "client: before the call", "client: after the call", 3, set_up_calls, calls),
    MICROKIT("notify", "Notification and notification back, both to event loops",
             SEQUENCE("client: notify", SERVER_PART, "client: event loop returns at once"), "client: before notify",
             "client: in its event loop, notified", 4, set_up_notifications, notifications),
    MICROKIT("notify_bare_coroutine_wait", "Notification round trip, awaited by a bare coroutine switch",
             SEQUENCE("client: event loop switches to the worker", "client: worker notifies", SERVER_PART,
                      "client: worker switches to the event loop", "client: event loop returns at once"),
             "client: before the switch to the worker", "client: in its event loop, notified", 4, set_up_bare,
             bare_waits),
    MICROKIT("notify_coroutine_wait", "Notification round trip, awaited on a semaphore of the coroutine library",
             SEQUENCE("client: event loop signals the semaphore, which hands over to the worker",
                      "client: worker notifies", SERVER_PART,
                      "client: worker waits on the semaphore, the event loop runs",
                      "client: event loop returns at once"),
             "client: before the signal to the worker", "client: in its event loop, notified", 4, set_up_library,
             library_waits),
    END_OF_FAMILY,
};
