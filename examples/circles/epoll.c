// SPDX-License-Identifier: BSD-2-Clause
//
// epoll: a wait that finds a descriptor ready, and a round trip between two event loops.
//   cyclometer run --circles examples/circles/epoll.c --only 'epoll.*'
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "linux_circle.h"

// An event loop: one eventfd, and the epoll instance that watches it.
struct loop {
    int eventfd, epoll;
};
static struct loop client, server;

static struct loop make_loop(uint32_t events)
{
    struct epoll_event interest = {.events = events};
    struct loop loop = {
        .eventfd = (int)must(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"),
        .epoll = (int)must(epoll_create1(EPOLL_CLOEXEC), "epoll_create1"),
    };
    must(epoll_ctl(loop.epoll, EPOLL_CTL_ADD, loop.eventfd, &interest), "epoll_ctl");
    return loop;
}

static inline void await(const struct loop *loop)
{
    struct epoll_event event;
    must(epoll_wait(loop->epoll, &event, 1, -1), "epoll_wait");
}

static inline void notify(const struct loop *loop)
{
    const uint64_t one = 1;
    must(write(loop->eventfd, &one, sizeof one), "write");
}

static inline void collect(const struct loop *loop)
{
    uint64_t count;
    must(read(loop->eventfd, &count, sizeof count), "read");
}

static void set_up_ready(const struct linux_circle *self)
{
    (void)self;
    client = make_loop(EPOLLIN);
    notify(&client); // and nobody collects it
}

static void waits(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        await(&client);
}

static void serve(const struct linux_circle *self)
{
    (void)self;
    for (;;) {
        await(&server);
        collect(&server);
        notify(&client);
    }
}

static void set_up_pair(const struct linux_circle *self)
{
    client = make_loop(EPOLLIN);
    server = make_loop(EPOLLIN);
    peer_start(self, serve);
}

static void round_trips(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        notify(&server);
        await(&client);
        collect(&client);
    }
}

CIRCLE("epoll.wait.ready") = {
    .title = "epoll_wait on one descriptor that is ready",
    .sequence = CYC_SEQUENCE("client: epoll_wait returns at once"),
    .from = "client: before epoll_wait",
    .to = "client: after epoll_wait",
    .expect = CYC_EXPECT({"entries", 1}, {"switches", 0}, {"faults", 0}),
    .setup = set_up_ready,
    .turns = waits,
    .client = 50,
};

CIRCLE("epoll.round_trip.same.equal") = {
    .title = "Round trip between two event loops on eventfds, same space, equal priorities",
    .sequence = CYC_SEQUENCE("client: write", "client: blocks in epoll_wait",
                             "server: returns from epoll_wait", "server: read, write",
                             "server: blocks in epoll_wait", "client: returns from epoll_wait",
                             "client: read"),
    .from = "client: before write",
    .to = "client: after read",
    .expect = CYC_EXPECT({"entries", 6}, {"switches", 2}, {"space_switches", 0}, {"wakeups", 2},
                         {"voluntary", 1}, {"involuntary", 0}, {"faults", 0}),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}),
    .setup = set_up_pair,
    .turns = round_trips,
    .space = SAME_SPACE,
    .client = 50,
    .server = 50,
};
