// SPDX-License-Identifier: BSD-2-Clause
//
// Wake-up latency: from the programmed deadline to the first instruction after waking. The deadline
// is a time of CLOCK_MONOTONIC, 150 us ahead. It is converted to the run's clock by reading
// CLOCK_MONOTONIC between two readings of that clock, so its error is at most half of what lies
// between those, some 30 ns.
//
// If the deadline passed before the client slept (in a guest whose host took the CPU away), there
// was not a wake-up: the client's voluntary switches show it, and the turn is repeated.
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "contract.h"
#include "stamp.h"

#define AHEAD_NS 150000
#define NS_PER_S 1000000000

struct deadline {
    struct timespec at; // CLOCK_MONOTONIC
    uint64_t clock;     // the same moment on the run's clock
};

static struct deadline choose_deadline(void)
{
    struct deadline d;
    // The middle between two readings is the best guess at the third.
    uint64_t before = clock_begin();
    clock_gettime(CLOCK_MONOTONIC, &d.at);
    uint64_t between = (clock_end() - before) / 2;
    d.clock = before + between + clock_hz() * (AHEAD_NS / 1000) / (NS_PER_S / 1000);
    // The same time ahead on both clocks.
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

static void set_up_clock(const struct linux_circle *self)
{
    (void)self;
    if (clock_hz() == 0)
        circle_skip("this run's clock has no known rate, so no deadline can be found on it; use "
                    "the native clock");
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

static void set_up_timerfd(const struct linux_circle *self)
{
    set_up_clock(self);
    fd = (int)must(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), "timerfd_create");
}

static inline __attribute__((always_inline)) int64_t
pass(void (*sleep_until)(const struct timespec *at))
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

static struct stamp *woken;

static void serve_timerfd(const struct linux_circle *self)
{
    uint64_t expired;
    (void)self;
    for (;;) {
        must(read(fd, &expired, sizeof expired), "read");
        stamp_now(woken);
    }
}

static void set_up_timerfd_elsewhere(const struct linux_circle *self)
{
    set_up_timerfd(self);
    woken = shared_alloc(sizeof *woken);
    peer_start(self, serve_timerfd);
}

// The client computes until the server has woken, so the timer's interrupt comes to its CPU.
static int64_t pass_timerfd_elsewhere(void *arg)
{
    (void)arg;
    peers_await();
    uint64_t number = stamp_number(woken);
    struct deadline d = choose_deadline();
    const struct itimerspec setting = {.it_value = d.at};
    must(timerfd_settime(fd, TFD_TIMER_ABSTIME, &setting, NULL), "timerfd_settime");
    return (int64_t)(stamp_after(woken, number) - d.clock);
}

// While the client sleeps, other threads may use the CPU, so these contracts expect no number of
// switches. Two of the entries are getrusage's, outside of the interval.
CIRCLE("timer.nanosleep") = {
    .title = "Wake-up latency of clock_nanosleep to a deadline",
    .sequence = CYC_SEQUENCE("client: getrusage, chooses a deadline",
                             "client: clock_nanosleep blocks", "deadline passes",
                             "kernel: timer interrupt wakes client",
                             "client: returns from clock_nanosleep", "client: getrusage"),
    .interval = ONE_WAY,
    .from = "deadline, on the run's clock",
    .to = "client: after clock_nanosleep",
    .expect = CYC_EXPECT({"entries", 3}, {"interrupts", 1}, {"voluntary", 1}, {"involuntary", 0},
                         {"faults", 0}),
    .params = CYC_PARAMS({"ahead_ns", "150000"}),
    .setup = set_up_clock,
    .pass = pass_nanosleep,
    .client = 50,
};

CIRCLE("timer.timerfd") = {
    .title = "Wake-up latency of a timerfd's deadline",
    .sequence = CYC_SEQUENCE("client: getrusage, chooses a deadline",
                             "client: timerfd_settime, read blocks", "deadline passes",
                             "kernel: timer interrupt wakes client", "client: returns from read",
                             "client: getrusage"),
    .interval = ONE_WAY,
    .from = "deadline, on the run's clock",
    .to = "client: after read",
    .expect = CYC_EXPECT({"entries", 4}, {"interrupts", 1}, {"voluntary", 1}, {"involuntary", 0},
                         {"faults", 0}),
    .params = CYC_PARAMS({"ahead_ns", "150000"}),
    .setup = set_up_timerfd,
    .pass = pass_timerfd,
    .client = 50,
};

CIRCLE("timer.timerfd.other_cpu") = {
    .title = "Wake-up latency of a timerfd's deadline, armed on one CPU for a thread on another",
    .sequence = CYC_SEQUENCE("client: chooses a deadline, timerfd_settime", "deadline passes",
                             "kernel: timer interrupt on the client's CPU wakes server",
                             "server: its CPU leaves idle", "server: returns from read",
                             "server: blocks in read"),
    .interval = ONE_WAY,
    .from = "deadline, on the client's clock",
    .to = "server: after read",
    .expect = CYC_EXPECT({"entries", 2}, {"interrupts", 1}, {"switches", 1}, {"cpu_switches", 0},
                         {"other_cpu_switches", 2}, {"wakeups", 1}, {"voluntary", 0},
                         {"involuntary", 0}, {"faults", 0}, {"elsewhere", 0}),
    .params = CYC_PARAMS({"ahead_ns", "150000"}),
    .setup = set_up_timerfd_elsewhere,
    .pass = pass_timerfd_elsewhere,
    .placement = OTHER_CPU,
    .client = 50,
    .server = 50,
};
