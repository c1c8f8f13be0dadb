// SPDX-License-Identifier: BSD-2-Clause
//
// For the laboratory's own tests, built into a harness only with -DCYC_FIXTURES: a contract that lies, which must
// be caught as invalid (it claims two switches in a null system call), and circles that never come back.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract.h"

#ifdef CYC_FIXTURES

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

const struct circle fixture_circles[] = {
    SOLO("fixture.wrong_contract", "A null system call said to switch threads", "getppid",
         EXPECT({"entries", 1}, {"switches", 2}, {"voluntary", 1}), NULL, null_calls, 0),
    SOLO("fixture.hangs", "Waits for ever", "pause", EXPECT({"entries", 1}), NULL, hang, 0),
    SOLO("fixture.spins", "Computes for ever", "nothing", EXPECT({"entries", 0}), NULL, spin, 0),
    SOLO("fixture.dies", "Aborts", "abort", EXPECT({"entries", 1}), NULL, die, 0),
    END_OF_FAMILY,
};

#endif
