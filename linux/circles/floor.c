// SPDX-License-Identifier: BSD-2-Clause
//
// The floor: what the rig, the clock, an entry into the kernel and a fault cost at least.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../../core/flow.h"
#include "contract.h"

// The loop that anyone would write by hand, to hold the rig's own against.
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

// A dependent chain of eight multiplications a turn: nothing but core frequency can change it.
static void alu_turns(void *arg, uint64_t turns)
{
    (void)arg;
    uint64_t x = 3;
    for (; turns > 0; turns--) {
        for (int i = 0; i < 8; i++) {
            x *= 0x9e3779b97f4a7c15u;
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

#define FLOOR(key_, title_, what_, entries_, turns_)                                                                   \
    SOLO(key_, title_, what_, EXPECT_ENTRIES(entries_), NULL, turns_, 0)

const struct circle floor_circles[] = {
    FLOOR("floor.empty", "Empty circle: the rig's own loop", "nothing", 0, cyc_empty_turns),
    FLOOR("floor.loop", "Empty loop written by hand", "nothing", 0, loop_turns),
    SHORT("floor.empty.unrolled", "Empty circle in the loop of short circles", "nothing", EXPECT_ENTRIES(0), NULL,
          unrolled_turns, 0),
    FLOOR("floor.alu", "Eight dependent multiplications", "multiply x 8", 0, alu_turns),
    FLOOR("clock.read", "Ordered read of the native clock", "read clock", 0, clock_turns),
    FLOOR("syscall.null", "Null system call (getppid)", "getppid", 1, getppid_turns),
    FLOOR("syscall.gettimeofday.null", "gettimeofday(NULL, NULL) as a real system call", "gettimeofday", 1,
          gettimeofday_null_turns),
    FLOOR("syscall.gettimeofday.timeval", "gettimeofday(&tv, NULL) as a real system call", "gettimeofday", 1,
          gettimeofday_turns),
    FLOOR("vdso.gettimeofday", "gettimeofday through the vDSO", "gettimeofday", 0, vdso_gettimeofday_turns),
    FLOOR("vdso.clock_gettime", "clock_gettime(CLOCK_MONOTONIC) through the vDSO", "clock_gettime", 0,
          vdso_clock_gettime_turns),
    END_OF_FAMILY,
};
