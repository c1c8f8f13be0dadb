// SPDX-License-Identifier: BSD-2-Clause
//
// The four sequences that libmicrokitco's benchmarks time between two protection domains, here two
// processes. The server has the higher priority, as there. A futex hand-off stands for a protected
// call, an eventfd for a notification, and a blocking read of it for an event loop.
#define _GNU_SOURCE
#include <sys/eventfd.h>
#include <unistd.h>

#include <cyc/coroutine.h>
#include "contract.h"
#include "futex.h"

#define STACK_BYTES 16384

enum owner { CALLER, CALLED };

static _Atomic uint32_t *endpoint; // whose turn it is
static int to_server, to_client;   // eventfds

static void serve_calls(const struct linux_circle *self)
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
        // The server has preempted and answered by now, so this seldom waits.
        while (atomic_load_explicit(endpoint, memory_order_acquire) != CALLER)
            futex_wait(endpoint, CALLED, 0);
    }
}

static void set_up_calls(const struct linux_circle *self)
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

static void serve_notifications(const struct linux_circle *self)
{
    (void)self;
    for (;;) {
        await(to_server);
        notify(to_client);
    }
}

static void set_up_notifications(const struct linux_circle *self)
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

// The client's worker is a coroutine; its event loop, the root, is the turns function. A turn
// begins where the loop resumes the worker, so at the end of a test both are where they were before
// it.
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

static void set_up_bare(const struct linux_circle *self)
{
    set_up_notifications(self);
    // It has not run yet; the first turn starts it.
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

static void set_up_library(const struct linux_circle *self)
{
    set_up_notifications(self);
    cyc_coroutines_init(&set);
    must(cyc_coroutine_spawn(&set, &worker, stack, sizeof stack, library_worker, NULL),
         "cyc_coroutine_spawn");
    cyc_coroutine_yield(&set); // runs the worker until it waits
}

static void library_waits(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        cyc_coroutine_signal(&set, &reply);
        await(to_client);
    }
}

// On another CPU the server preempts nobody.
#define SERVER_PART_ELSEWHERE                                                                  \
    "client: blocks in its event loop", "server: returns to its event loop", "server: notify", \
        "server: blocks in its event loop"
#define NOTIFYING_ELSEWHERE(...)                                                                  \
    .elsewhere = &(const struct elsewhere)                                                        \
    {                                                                                             \
        .sequence = CYC_SEQUENCE(__VA_ARGS__),                                                    \
        .expect = CYC_EXPECT({"entries", 4}, {"involuntary", 0}, {"faults", 0}, {"elsewhere", 0}) \
    }
#define SERVER_PART                                                         \
    "server: preempts client, returns to its event loop", "server: notify", \
        "server: blocks in its event loop"

CIRCLE("microkit.ppcall") = {
    .title = "Protected procedure call and return",
    .sequence = CYC_SEQUENCE("client: store, FUTEX_WAKE",
                             "server: preempts client, returns from FUTEX_WAIT",
                             "server: store, FUTEX_WAKE", "server: blocks in FUTEX_WAIT",
                             "client: returns from FUTEX_WAKE"),
    .from = "client: before the call",
    .to = "client: after the call",
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(3, CROSS_SPACE),
    .elsewhere =
        &(const struct elsewhere){
            .sequence = CYC_SEQUENCE("client: store, FUTEX_WAKE", "client: blocks in FUTEX_WAIT",
                                     "server: returns from FUTEX_WAIT", "server: store, FUTEX_WAKE",
                                     "server: blocks in FUTEX_WAIT",
                                     "client: returns from FUTEX_WAIT"),
            // A side may find the word changed before it sleeps, and then makes no FUTEX_WAIT.
            .expect = CYC_EXPECT({"involuntary", 0}, {"faults", 0}, {"elsewhere", 0}),
            .at_least = CYC_EXPECT({"entries", 2}),
        },
    .setup = set_up_calls,
    .turns = calls,
};

CIRCLE("microkit.notify") = {
    .title = "Notification and notification back, both to event loops",
    .sequence = CYC_SEQUENCE("client: notify", SERVER_PART, "client: event loop returns at once"),
    .from = "client: before notify",
    .to = "client: in its event loop, notified",
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    NOTIFYING_ELSEWHERE("client: notify", SERVER_PART_ELSEWHERE, "client: event loop returns"),
    .setup = set_up_notifications,
    .turns = notifications,
};

CIRCLE("microkit.notify_bare_coroutine_wait") = {
    .title = "Notification round trip, awaited by a bare coroutine switch",
    .sequence = CYC_SEQUENCE("client: event loop switches to the worker", "client: worker notifies",
                             SERVER_PART, "client: worker switches to the event loop",
                             "client: event loop returns at once"),
    .from = "client: before the switch to the worker",
    .to = "client: in its event loop, notified",
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    NOTIFYING_ELSEWHERE("client: event loop switches to the worker", "client: worker notifies",
                        "client: worker switches to the event loop", SERVER_PART_ELSEWHERE,
                        "client: event loop returns"),
    .setup = set_up_bare,
    .turns = bare_waits,
};

CIRCLE("microkit.notify_coroutine_wait") = {
    .title = "Notification round trip, awaited on a semaphore of the coroutine library",
    .sequence =
        CYC_SEQUENCE("client: event loop signals the semaphore, which hands over to the worker",
                     "client: worker notifies", SERVER_PART,
                     "client: worker waits on the semaphore, the event loop runs",
                     "client: event loop returns at once"),
    .from = "client: before the signal to the worker",
    .to = "client: in its event loop, notified",
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    NOTIFYING_ELSEWHERE("client: event loop signals the semaphore, which hands over to the worker",
                        "client: worker notifies",
                        "client: worker waits on the semaphore, the event loop runs",
                        SERVER_PART_ELSEWHERE, "client: event loop returns"),
    .setup = set_up_library,
    .turns = library_waits,
};
