// SPDX-License-Identifier: BSD-2-Clause
//
// Circles that break their word, compiled into a harness by the tests: a contract that does not
// hold (two switches in a null system call), circles that never end, one that dies, and one that
// ends its process as if all were done.
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "circles/contract.h"

static void null_calls(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        syscall(SYS_getppid);
}

static void hang(void *arg, uint64_t turns)
{
    (void)arg;
    (void)turns;
    for (;;)
        pause();
}

static void spin(void *arg, uint64_t turns)
{
    (void)arg;
    (void)turns;
    for (;;)
        COMPILER_BARRIER();
}

static void die(void *arg, uint64_t turns)
{
    (void)arg;
    (void)turns;
    abort();
}

static void leave(void *arg, uint64_t turns)
{
    (void)arg;
    (void)turns;
    _exit(0);
}

CIRCLE("fixture.wrong_contract") = {
    .title = "A null system call said to switch threads",
    ALONE("getppid"),
    .expect = CYC_EXPECT({"entries", 1}, {"switches", 2}, {"voluntary", 1}),
    .turns = null_calls,
};

CIRCLE("fixture.hangs") = {
    .title = "Waits for ever",
    ALONE("pause"),
    .expect = CYC_EXPECT({"entries", 1}),
    .turns = hang,
};

CIRCLE("fixture.spins") = {
    .title = "Computes for ever",
    ALONE("nothing"),
    .expect = CYC_EXPECT({"entries", 0}),
    .turns = spin,
};

CIRCLE("fixture.dies") = {
    .title = "Aborts",
    ALONE("abort"),
    .expect = CYC_EXPECT({"entries", 1}),
    .turns = die,
};

CIRCLE("fixture.leaves") = {
    .title = "Ends its process",
    ALONE("exit"),
    .expect = CYC_EXPECT({"entries", 1}),
    .turns = leave,
};

// The "latency" is where the program lies.
static int64_t where(void *arg)
{
    (void)arg;
    return (int64_t)(uintptr_t)&where;
}

CIRCLE("fixture.layout") = {
    .title = "Says where its code lies",
    ALONE("nothing"),
    .expect = CYC_EXPECT({"entries", 0}),
    .pass = where,
};

static int request, reply;

static void count(int descriptor, uint64_t number)
{
    must(write(descriptor, &number, sizeof number), "write");
}

static void await(int descriptor)
{
    uint64_t number;
    must(read(descriptor, &number, sizeof number), "read");
}

// A server that is to run on another CPU and goes to the client's.
static void serve_here(const struct linux_circle *self)
{
    cpu_set_t set;
    await(request);
    CPU_ZERO(&set);
    CPU_SET(*(const int *)self->variant, &set);
    must(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
    for (;; await(request))
        count(reply, 1);
}

static int client_cpu;

static void set_up_strayed(const struct linux_circle *self)
{
    client_cpu = sched_getcpu();
    request = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    reply = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    peer_start(self, serve_here);
}

static void round_trips(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        count(request, 1);
        await(reply);
    }
}

CIRCLE("fixture.strayed") = {
    .title = "A round trip said to cross CPUs, whose server moves to the client's",
    ROUND_TRIP_EQUAL("write", "read"),
    .expect = CYC_EXPECT({"elsewhere", 0}),
    .setup = set_up_strayed,
    .turns = round_trips,
    .placement = OTHER_CPU,
    .client = 50,
    .server = 50,
    .variant = &client_cpu,
};
