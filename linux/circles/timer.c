// SPDX-License-Identifier: BSD-2-Clause
//
// Wake-up latency: from the deadline that was programmed to the first instruction after waking.
// The deadline is given in CLOCK_MONOTONIC, 150 us ahead. It stands on the run's clock by a reading of the
// one between two readings of the other, so it is good to half the distance of those, some 30 ns.
//
// Where the deadline passed before the client slept (a guest whose host took the CPU away), there was no
// wake-up, and the turn is taken again; the client's voluntary switches tell.
#define _GNU_SOURCE
#include <sys/resource.h>
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

static long sleeps(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void set_up_clock(const struct circle *self)
{
    (void)self;
    if (clock_hz() == 0)
        circle_skip("this run's clock has no known rate, so no deadline can be found on it; use the native clock");
}

static void nanosleep_until(const struct timespec *at)
{
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL);
}

static int fd;

static void timerfd_until(const struct timespec *at)
{
    const struct itimerspec setting = {.it_value = *at};
    uint64_t expired;
    must(timerfd_settime(fd, TFD_TIMER_ABSTIME, &setting, NULL), "timerfd_settime");
    must(read(fd, &expired, sizeof expired), "read");
}

static void set_up_timerfd(const struct circle *self)
{
    set_up_clock(self);
    fd = (int)must(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), "timerfd_create");
}

static inline __attribute__((always_inline)) int64_t pass(void (*sleep_until)(const struct timespec *at))
{
    struct deadline d;
    uint64_t woken;
    long slept;
    do {
        slept = sleeps();
        d = choose_deadline();
        sleep_until(&d.at);
        woken = clock_end();
    } while (sleeps() == slept);
    return (int64_t)(woken - d.clock);
}

static int64_t pass_nanosleep(void *arg)
{
    (void)arg;
    return pass(nanosleep_until);
}

static int64_t pass_timerfd(void *arg)
{
    (void)arg;
    return pass(timerfd_until);
}

// While the client sleeps the CPU is idle or anybody's, so its switches are not counted. Two entries are
// getrusage's, outside the interval.
#define TIMER(key_, title_, arm, wait, entries_, setup_, pass_)                                                        \
    {                                                                                                                  \
        .contract = {.key = "timer." key_,                                                                             \
                     .title = title_,                                                                                  \
                     .sequence = SEQUENCE("client: getrusage, chooses a deadline", "client: " arm wait " blocks",      \
                                          "deadline passes", "kernel: timer interrupt wakes client",                   \
                                          "client: returns from " wait, "client: getrusage"),                          \
                     .interval = "one_way",                                                                            \
                     .from = "deadline, on the run's clock",                                                           \
                     .to = "client: after " wait,                                                                      \
                     .expect = EXPECT({"entries", entries_}, {"interrupts", 1}, {"voluntary", 1}, {"involuntary", 0},  \
                                      {"faults", 0}),                                                                  \
                     .params = PARAMS({"ahead_ns", "150000"}),                                                         \
                     .correction = "none"},                                                                            \
        .setup = setup_, .pass = pass_, .client = 50,                                                                  \
    }

const struct circle timer_circles[] = {
    TIMER("nanosleep", "Wake-up latency of clock_nanosleep to a deadline", "", "clock_nanosleep", 3, set_up_clock,
          pass_nanosleep),
    TIMER("timerfd", "Wake-up latency of a timerfd's deadline", "timerfd_settime, ", "read", 4, set_up_timerfd,
          pass_timerfd),
    END_OF_FAMILY,
};
