// SPDX-License-Identifier: BSD-2-Clause
//
// Asking which of many file descriptors is ready: select, poll and epoll over eventfds, of which
// the last one is. None of the calls blocks. What select and poll cost grows with the number of
// descriptors; what epoll_wait costs should not.
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

#include "contract.h"

#define DESCRIPTORS_MAX 500

static int descriptors[DESCRIPTORS_MAX], epoll;
static struct pollfd polled[DESCRIPTORS_MAX];
static fd_set selected;
static int highest;

static size_t count_of(const struct linux_circle *self)
{
    return *(const size_t *)self->variant;
}

static void make(const struct linux_circle *self)
{
    size_t count = count_of(self);
    FD_ZERO(&selected);
    for (size_t i = 0; i < count; i++) {
        descriptors[i] = eventfd(i == count - 1, EFD_CLOEXEC);
        if (descriptors[i] < 0 || descriptors[i] >= FD_SETSIZE)
            circle_skip("this process may not open so many files; raise ulimit -n");
        polled[i] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
        FD_SET(descriptors[i], &selected);
        highest = descriptors[i] > highest ? descriptors[i] : highest;
    }
}

static void make_epoll(const struct linux_circle *self)
{
    make(self);
    epoll = (int)must(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    for (size_t i = 0; i < count_of(self); i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptors[i]};
        must(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptors[i], &event), "epoll_ctl");
    }
}

// The kernel writes its answer over the question, so every turn asks with a copy.
static void selects(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        fd_set ready;
        memcpy(&ready, &selected, sizeof ready);
        struct timeval none = {0};
        if (must(select(highest + 1, &ready, NULL, NULL, &none), "select") != 1)
            circle_fail("select did not find the one descriptor that is ready, and");
    }
}

static void polls(void *arg, uint64_t turns)
{
    nfds_t count = count_of(arg);
    for (; turns > 0; turns--)
        if (must(poll(polled, count, 0), "poll") != 1)
            circle_fail("poll did not find the one descriptor that is ready, and");
}

static void epoll_waits(void *arg, uint64_t turns)
{
    struct epoll_event events[8];
    (void)arg;
    for (; turns > 0; turns--)
        if (must(epoll_wait(epoll, events, 8, 0), "epoll_wait") != 1)
            circle_fail("epoll_wait did not find the one descriptor that is ready, and");
}

#define ASKS(call, count, make_, turns_)                                                  \
    ALONE(call), .expect = ENTRIES(1),                                                    \
        .params = CYC_PARAMS({"descriptors", #count}, {"ready", "last"}), .setup = make_, \
        .turns = turns_, .variant = SIZE(count)

CIRCLE("select.ready.files_10") = {
    .title = "select over 10 descriptors, the last one ready",
    ASKS("select", 10, make, selects),
};

CIRCLE("select.ready.files_100") = {
    .title = "select over 100 descriptors, the last one ready",
    ASKS("select", 100, make, selects),
};

CIRCLE("select.ready.files_500") = {
    .title = "select over 500 descriptors, the last one ready",
    ASKS("select", 500, make, selects),
};

CIRCLE("poll.ready.files_10") = {
    .title = "poll over 10 descriptors, the last one ready",
    ASKS("poll", 10, make, polls),
};

CIRCLE("poll.ready.files_100") = {
    .title = "poll over 100 descriptors, the last one ready",
    ASKS("poll", 100, make, polls),
};

CIRCLE("poll.ready.files_500") = {
    .title = "poll over 500 descriptors, the last one ready",
    ASKS("poll", 500, make, polls),
};

CIRCLE("epoll.ready.files_10") = {
    .title = "epoll_wait over 10 descriptors, the last one ready",
    ASKS("epoll_wait", 10, make_epoll, epoll_waits),
};

CIRCLE("epoll.ready.files_100") = {
    .title = "epoll_wait over 100 descriptors, the last one ready",
    ASKS("epoll_wait", 100, make_epoll, epoll_waits),
};

CIRCLE("epoll.ready.files_500") = {
    .title = "epoll_wait over 500 descriptors, the last one ready",
    ASKS("epoll_wait", 500, make_epoll, epoll_waits),
};
