// SPDX-License-Identifier: BSD-2-Clause
//
// Waking a thread on another CPU: one that waits in epoll, and one that has to preempt a thread of
// lower priority which keeps that CPU busy. And moving to the other CPU and back.
#define _GNU_SOURCE
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "contract.h"
#include "spin.h"

static int request, reply, epoll;

static void notify(int descriptor)
{
    const uint64_t one = 1;
    must(write(descriptor, &one, sizeof one), "write");
}

static void take(int descriptor)
{
    uint64_t count;
    must(read(descriptor, &count, sizeof count), "read");
}

static void round_trips(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        notify(request);
        take(reply);
    }
}

static void make_descriptors(void)
{
    request = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    reply = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
}

static void serve_epoll(const struct linux_circle *self)
{
    struct epoll_event event;
    (void)self;
    for (;;) {
        must(epoll_wait(epoll, &event, 1, -1), "epoll_wait");
        take(request);
        notify(reply);
    }
}

static void set_up_epoll(const struct linux_circle *self)
{
    struct epoll_event event = {.events = EPOLLIN};
    make_descriptors();
    epoll = (int)must(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, request, &event), "epoll_ctl");
    peer_start(self, serve_epoll);
}

static struct shared {
    _Alignas(128) _Atomic uint64_t answers;
    _Alignas(128) _Atomic uint64_t computed;
} *shared;

// Keeps the other CPU busy as long as turns go by.
static void compute(const struct linux_circle *self)
{
    (void)self;
    for (uint64_t seen = 0, idle = 0;; idle++) {
        uint64_t answers = atomic_load_explicit(&shared->answers, memory_order_relaxed);
        atomic_fetch_add_explicit(&shared->computed, 1, memory_order_relaxed);
        relax();
        if (answers != seen)
            idle = 0;
        else if (idle >= SPINS_MAX)
            spin_rest();
        seen = answers;
    }
}

static void serve_preempting(const struct linux_circle *self)
{
    (void)self;
    for (;;) {
        take(request);
        atomic_fetch_add_explicit(&shared->answers, 1, memory_order_release);
    }
}

static void set_up_preempting(const struct linux_circle *self)
{
    make_descriptors();
    shared = shared_alloc(sizeof *shared);
    peer_start_at(self, SAME_SPACE, self->server - 10, compute);
    peer_start(self, serve_preempting);
}

static void preemptions(void *arg, uint64_t turns)
{
    (void)arg;
    uint64_t answers = atomic_load_explicit(&shared->answers, memory_order_relaxed);
    for (; turns > 0; turns--) {
        notify(request);
        answers++;
        SPIN_UNTIL(atomic_load_explicit(&shared->answers, memory_order_acquire) == answers)
        // If the other thread computes, the server has blocked again.
        uint64_t computed = atomic_load_explicit(&shared->computed, memory_order_relaxed);
        SPIN_UNTIL(atomic_load_explicit(&shared->computed, memory_order_relaxed) != computed)
    }
}

static cpu_set_t here, there;

static void set_up_move(const struct linux_circle *self)
{
    (void)self;
    CPU_ZERO(&here);
    CPU_ZERO(&there);
    CPU_SET((unsigned)cpu_of(SAME_CPU), &here);
    CPU_SET((unsigned)cpu_of(OTHER_CPU), &there);
}

static void moves(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        must(sched_setaffinity(0, sizeof there, &there), "sched_setaffinity");
        must(sched_setaffinity(0, sizeof here, &here), "sched_setaffinity");
    }
}

CIRCLE("epoll.round_trip.same.other_cpu") = {
    .title = "Round trip over two eventfds, the server waits in epoll on another CPU",
    .sequence = CYC_SEQUENCE("client: write request", "client: blocks in read",
                             "server: returns from epoll_wait", "server: read", "server: write",
                             "server: blocks in epoll_wait", "client: returns from read"),
    .from = "client: before write",
    .to = "client: after read",
    .expect = CYC_EXPECT({"entries", 5}, {"involuntary", 0}, {"faults", 0}, {"elsewhere", 0}),
    .setup = set_up_epoll,
    .turns = round_trips,
    .placement = OTHER_CPU,
    .client = 50,
    .server = 50,
};

CIRCLE("wake.preempting.same.other_cpu") = {
    .title = "Notification (eventfd) to a thread on another CPU, which preempts one that computes",
    .sequence = CYC_SEQUENCE("client: write", "server: preempts a thread of lower priority",
                             "server: returns from read, answers in memory",
                             "server: blocks in read", "client: sees that the thread runs again"),
    .from = "client: before write",
    .to = "client: after it sees that the preempted thread runs again",
    .expect = CYC_EXPECT({"entries", 2}, {"switches", 2}, {"cpu_switches", 0},
                         {"other_cpu_switches", 2}, {"wakeups", 1}, {"involuntary", 0},
                         {"faults", 0}, {"elsewhere", 0}),
    .setup = set_up_preempting,
    .turns = preemptions,
    .placement = OTHER_CPU,
    .spins = 1,
    .client = 50,
    .server = 50,
    .needs_fifo = 1,
};

CIRCLE("thread.migrate.other_cpu") = {
    .title = "A thread moves itself to another CPU and back by sched_setaffinity",
    .sequence = CYC_SEQUENCE("client: sched_setaffinity to the other CPU",
                             "client: sched_setaffinity to its own"),
    .from = "client: before sched_setaffinity",
    .to = "client: after sched_setaffinity",
    // Each CPU's stopper thread moves it.
    .expect = CYC_EXPECT({"entries", 2}, {"switches", 2}, {"faults", 0}),
    .at_least = CYC_EXPECT({"cpu_switches", 2}),
    .setup = set_up_move,
    .turns = moves,
    .placement = OTHER_CPU,
    .client = 50,
};
