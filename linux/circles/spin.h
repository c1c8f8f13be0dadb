// SPDX-License-Identifier: BSD-2-Clause
//
// Waiting for another CPU by reading memory. A virtual machine may not run both CPUs at a time, and
// a real-time thread that waits in a loop keeps all else off its CPU: a side that has waited for
// some milliseconds sleeps for a moment, and says so.
#ifndef LINUX_CIRCLES_SPIN_H
#define LINUX_CIRCLES_SPIN_H

#include <stdatomic.h>
#include <time.h>

#include "linux_circle.h"

#define SPINS_MAX (1u << 16)
#define SPIN_REST_NS 20000

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#else
    COMPILER_BARRIER();
#endif
}

static inline void spin_rest(void)
{
    const struct timespec moment = {.tv_nsec = SPIN_REST_NS};
    __atomic_fetch_add(&outcomes->rests, 1, __ATOMIC_RELAXED);
    nanosleep(&moment, NULL);
}

#define SPIN_UNTIL(condition)                            \
    for (uint32_t spins = 0; !(condition);) {            \
        relax();                                         \
        if (__builtin_expect(++spins == SPINS_MAX, 0)) { \
            spin_rest();                                 \
            spins = 0;                                   \
        }                                                \
    }

// The contract of sides that wait so: neither enters the kernel, nor leaves its CPU.
#define SPINNING                                                                            \
    .expect = CYC_EXPECT({"entries", 0}, {"switches", 0}, {"faults", 0}, {"elsewhere", 0}), \
    .placement = OTHER_CPU, .spins = 1, .client = 50, .server = 50

#endif
