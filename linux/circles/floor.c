// SPDX-License-Identifier: BSD-2-Clause
//
// The floor under all other circles: what the rig itself, a clock reading and the cheapest system
// calls cost.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cyc/flow.h>
#include "contract.h"

// A loop as one would write it by hand, for comparison with the rig's.
static void loop_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        __asm__ volatile("");
}

static void unrolled_turns(void *arg, uint64_t turns)
{
    (void)arg;
    CYC_SHORT_TURNS(turns, { __asm__ volatile(""); })
}

// A dependent chain of eight multiplications per turn: only the core's frequency changes its time.
static void alu_turns(void *arg, uint64_t turns)
{
    (void)arg;
    uint64_t x = 3;
    for (; turns > 0; turns--) {
        for (int i = 0; i < 8; i++) {
            x *= 0x9e3779b97f4a7c15u;
            // Each product is needed, so none is folded into the next.
            __asm__ volatile("" : "+r"(x));
        }
    }
}

static void clock_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        (void)cyc_native_end();
}

static void getppid_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        syscall(SYS_getppid);
}

static void gettimeofday_null_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        syscall(SYS_gettimeofday, NULL, NULL);
}

static void gettimeofday_turns(void *arg, uint64_t turns)
{
    struct timeval now;
    (void)arg;
    for (; turns > 0; turns--)
        syscall(SYS_gettimeofday, &now, NULL);
}

static void vdso_gettimeofday_turns(void *arg, uint64_t turns)
{
    struct timeval now;
    (void)arg;
    for (; turns > 0; turns--) {
        // The C library's function, which stays in user mode.
        gettimeofday(&now, NULL);
        COMPILER_BARRIER();
    }
}

static void vdso_clock_gettime_turns(void *arg, uint64_t turns)
{
    struct timespec now;
    (void)arg;
    for (; turns > 0; turns--) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        COMPILER_BARRIER();
    }
}

CIRCLE("floor.empty") = {
    .title = "Empty circle: the rig's own loop",
    ALONE("nothing"),
    .expect = ENTRIES(0),
    .turns = cyc_empty_turns,
};

CIRCLE("floor.loop") = {
    .title = "Empty loop written by hand",
    ALONE("nothing"),
    .expect = ENTRIES(0),
    .turns = loop_turns,
};

CIRCLE("floor.empty.unrolled") = {
    .title = "Empty circle in the loop of short circles",
    ALONE("nothing"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .turns = unrolled_turns,
};

CIRCLE("floor.alu") = {
    .title = "Eight dependent multiplications",
    ALONE("multiply x 8"),
    .expect = ENTRIES(0),
    .turns = alu_turns,
};

CIRCLE("clock.read") = {
    .title = "Ordered read of the native clock",
    ALONE("read clock"),
    .expect = ENTRIES(0),
    .turns = clock_turns,
};

CIRCLE("syscall.null") = {
    .title = "Null system call (getppid)",
    ALONE("getppid"),
    .expect = ENTRIES(1),
    .turns = getppid_turns,
};

CIRCLE("syscall.gettimeofday.null") = {
    .title = "gettimeofday(NULL, NULL) as a real system call",
    ALONE("gettimeofday"),
    .expect = ENTRIES(1),
    .turns = gettimeofday_null_turns,
};

CIRCLE("syscall.gettimeofday.timeval") = {
    .title = "gettimeofday(&tv, NULL) as a real system call",
    ALONE("gettimeofday"),
    .expect = ENTRIES(1),
    .turns = gettimeofday_turns,
};

CIRCLE("vdso.gettimeofday") = {
    .title = "gettimeofday through the vDSO",
    ALONE("gettimeofday"),
    .expect = ENTRIES(0),
    .turns = vdso_gettimeofday_turns,
};

CIRCLE("vdso.clock_gettime") = {
    .title = "clock_gettime(CLOCK_MONOTONIC) through the vDSO",
    ALONE("clock_gettime"),
    .expect = ENTRIES(0),
    .turns = vdso_clock_gettime_turns,
};
