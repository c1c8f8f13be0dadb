// SPDX-License-Identifier: BSD-2-Clause
//
// For the laboratory's own tests: a contract that lies, which must be caught as invalid. It claims two
// switches in a null system call. Built into a harness only with -DCYC_WRONG_CONTRACT.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "contract.h"

#ifdef CYC_WRONG_CONTRACT

static void null_calls(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        syscall(SYS_getppid);
}

const struct circle fixture_circles[] = {
    SOLO("fixture.wrong_contract", "A null system call said to switch threads", "getppid",
         EXPECT({"entries", 1}, {"switches", 2}, {"voluntary", 1}), NULL, null_calls, 0),
    END_OF_FAMILY,
};

#endif
