// SPDX-License-Identifier: BSD-2-Clause
//
// Circles that break their word, compiled into a harness by the tests: a contract that does not
// hold (two switches in a null system call), circles that never end, and one that dies.
#define _GNU_SOURCE
#include <stdlib.h>
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
