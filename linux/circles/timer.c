// SPDX-License-Identifier: BSD-2-Clause
//
// Wake-up latency: from the deadline that was programmed to the first instruction after waking.
// The deadline is given in CLOCK_MONOTONIC, 150 us ahead. It stands on the run's clock by a reading of the
// one between two readings of the other, so it is good to half the distance of those, some 30 ns.
#define _GNU_SOURCE
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "contract.h"

#define AHEAD_NS 150000
#define NS_PER_S 1000000000

struct deadline {
    struct timespec at; // CLOCK_MONOTONIC
    uint64_t clock;     // the same moment on the run's clock
};

static struct deadline choose_deadline(void)
{
    struct deadline d;
    uint64_t before = clock_begin();
    clock_gettime(CLOCK_MONOTONIC, &d.at);
    uint64_t between = (clock_end() - before) / 2;
    d.clock = before + between + clock_hz() * (AHEAD_NS / 1000) / (NS_PER_S / 1000);
    d.at.tv_nsec += AHEAD_NS;
    d.at.tv_sec += d.at.tv_nsec / NS_PER_S;
    d.at.tv_nsec %= NS_PER_S;
    return d;
}

static void set_up_clock(const struct circle *self)
{
    (void)self;
    if (clock_hz() == 0)
        circle_skip("this run's clock has no known rate, so no deadline can be found on it; use the native clock");
}

static int64_t pass_nanosleep(void *arg)
{
    struct deadline d = choose_deadline();
    (void)arg;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &d.at, NULL);
    return (int64_t)(clock_end() - d.clock);
}

static int fd;

static void set_up_timerfd(const struct circle *self)
{
    set_up_clock(self);
    fd = (int)must(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), "timerfd_create");
}

static int64_t pass_timerfd(void *arg)
{
    struct deadline d = choose_deadline();
    struct itimerspec setting = {.it_value = d.at};
    uint64_t expired;
    (void)arg;
    must(timerfd_settime(fd, TFD_TIMER_ABSTIME, &setting, NULL), "timerfd_settime");
    must(read(fd, &expired, sizeof expired), "read");
    return (int64_t)(clock_end() - d.clock);
}

// While the client sleeps the CPU is idle: it switches away and back, and takes the timer's interrupt.
#define TIMER(key_, title_, arm, wait, entries_, setup_, pass_)                                                        \
    {                                                                                                                  \
        .contract = {.key = "timer." key_,                                                                             \
                     .title = title_,                                                                                  \
                     .sequence = SEQUENCE("client: " arm, "client: blocks in " wait, "deadline passes",                \
                                          "kernel: timer interrupt wakes client", "client: returns from " wait),       \
                     .interval = "one_way",                                                                            \
                     .from = "deadline, on the run's clock",                                                           \
                     .to = "client: after " wait,                                                                      \
                     .expect = EXPECT({"entries", entries_}, {"switches", 1}, {"cpu_switches", 2},                     \
                                      {"interrupts", 1}, {"voluntary", 1}, {"involuntary", 0}, {"faults", 0}),         \
                     .params = PARAMS({"ahead_ns", "150000"}),                                                         \
                     .correction = "none"},                                                                            \
        .setup = setup_, .pass = pass_, .client = 50,                                                                  \
    }

const struct circle timer_circles[] = {
    TIMER("nanosleep", "Wake-up latency of clock_nanosleep to a deadline", "choose a deadline", "clock_nanosleep", 1,
          set_up_clock, pass_nanosleep),
    TIMER("timerfd", "Wake-up latency of a timerfd's deadline", "timerfd_settime", "read", 2, set_up_timerfd,
          pass_timerfd),
    END_OF_FAMILY,
};
