// SPDX-License-Identifier: BSD-2-Clause
//
// The floor: what the rig, the clock, an entry into the kernel and a fault cost at least.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../../core/flow.h"
#include "../circle.h"

static void no_setup(const struct circle *self)
{
    (void)self;
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

#define NO_ENTRY EXPECT({"entries", 0}, {"switches", 0}, {"faults", 0})
#define ONE_ENTRY EXPECT({"entries", 1}, {"switches", 0}, {"faults", 0})
#define FLOOR(key_, title_, what_, expect_, turns_)                                                                    \
    {                                                                                                                  \
        .contract = {.key = key_,                                                                                      \
                     .title = title_,                                                                                  \
                     .sequence = SEQUENCE("client: " what_),                                                           \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before " what_,                                                                  \
                     .to = "client: after " what_,                                                                     \
                     .expect = expect_,                                                                                \
                     .correction = "none"},                                                                            \
        .setup = no_setup, .turns = turns_, .client = 50,                                                              \
    }

const struct circle floor_circles[] = {
    FLOOR("floor.empty", "Empty circle: the rig's own loop", "nothing", NO_ENTRY, cyc_empty_turns),
    FLOOR("floor.alu", "Eight dependent multiplications", "multiply x 8", NO_ENTRY, alu_turns),
    FLOOR("clock.read", "Ordered read of the native clock", "read clock", NO_ENTRY, clock_turns),
    FLOOR("syscall.null", "Null system call (getppid)", "getppid", ONE_ENTRY, getppid_turns),
    FLOOR("syscall.gettimeofday.null", "gettimeofday(NULL, NULL) as a real system call", "gettimeofday", ONE_ENTRY,
          gettimeofday_null_turns),
    FLOOR("syscall.gettimeofday.timeval", "gettimeofday(&tv, NULL) as a real system call", "gettimeofday", ONE_ENTRY,
          gettimeofday_turns),
    FLOOR("vdso.gettimeofday", "gettimeofday through the vDSO", "gettimeofday", NO_ENTRY, vdso_gettimeofday_turns),
    FLOOR("vdso.clock_gettime", "clock_gettime(CLOCK_MONOTONIC) through the vDSO", "clock_gettime", NO_ENTRY,
          vdso_clock_gettime_turns),
    END_OF_FAMILY,
};
