// SPDX-License-Identifier: BSD-2-Clause
//
// The clocks a machine offers. begin() reads so that nothing of the timed code
// starts before the reading; end() so that all of it has finished. Both count
// up and may wrap at 2^64; the difference end - begin is taken as signed 64 bit.
#ifndef CYC_CLOCK_H
#define CYC_CLOCK_H

#include <stdint.h>

struct cyc_clock {
    const char *name; // e.g. "tsc", "cntvct", "cycle", "instret"
    const char *unit; // "cycles", "ticks", "instructions" or "ns"
    uint64_t hz;      // rate; 0 where unknown
    int exact;        // 1 where two runs of one image must read the same differences
    uint64_t (*begin)(void);
    uint64_t (*end)(void);
};

// Marks around the interval of a test, for whoever traces the machine: instructions that change no state, recognised
// by their encoding. They stand outside the two readings, so that no latency contains one.
//   x86-64   0f 1f 80 and the mark: nopl with a 32-bit displacement
//   aarch64  movz xzr
//   riscv64  slti x0, which the ISA leaves to custom hints
#if defined(__x86_64__)
#define CYC_HINT(mark) __asm__ volatile("nopl 0x0cbc0" #mark "(%rax)")
#elif defined(__aarch64__)
#define CYC_HINT(mark) __asm__ volatile("movz xzr, #0x" #mark)
#elif defined(__riscv)
#define CYC_HINT(mark) __asm__ volatile("slti x0, x0, 0x" #mark)
#endif
#define CYC_HINT_OPEN() CYC_HINT(7c1)
#define CYC_HINT_CLOSE() CYC_HINT(7c2)

#if defined(__x86_64__)

// Intel SDM vol. 2B, RDTSC and RDTSCP: RDTSC is not serialising; LFENCE before it waits
// for all prior instructions, LFENCE after it holds later ones back. RDTSCP waits
// for prior instructions by itself but lets later ones start, hence the LFENCE behind it.
static inline uint64_t cyc_native_begin(void)
{
    uint32_t lo, hi;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi)::"memory");
    return ((uint64_t)hi << 32) | lo;
}

static inline uint64_t cyc_native_end(void)
{
    uint32_t lo, hi, aux;
    __asm__ volatile("rdtscp\n\tlfence" : "=a"(lo), "=d"(hi), "=c"(aux)::"memory");
    return ((uint64_t)hi << 32) | lo;
}
#define CYC_NATIVE_NAME "tsc"
#define CYC_NATIVE_UNIT "ticks"

#elif defined(__aarch64__)

// Arm ARM D12.2: reads of CNTVCT_EL0 and PMCCNTR_EL0 may be taken early unless an ISB precedes them.
#if defined(CYC_CLOCK_PMCCNTR) // cycles; the kernel under test must have enabled it for this level
#define CYC_AARCH64_COUNTER "pmccntr_el0"
#define CYC_NATIVE_NAME "pmccntr"
#define CYC_NATIVE_UNIT "cycles"
#else
#define CYC_AARCH64_COUNTER "cntvct_el0"
#define CYC_NATIVE_NAME "cntvct"
#define CYC_NATIVE_UNIT "ticks"
#endif

static inline uint64_t cyc_native_begin(void)
{
    uint64_t value;
    __asm__ volatile("isb\n\tmrs %0, " CYC_AARCH64_COUNTER "\n\tisb" : "=r"(value)::"memory");
    return value;
}

static inline uint64_t cyc_native_end(void)
{
    return cyc_native_begin();
}

#elif defined(__riscv) && __riscv_xlen == 64

// RISC-V Unprivileged ISA, Zicntr: the counters are CSRs, read in program order on
// every core we know; the compiler barrier is all that is needed.
#if defined(CYC_CLOCK_INSTRET)
#define CYC_RISCV_COUNTER "instret"
#define CYC_NATIVE_UNIT "instructions"
#elif defined(CYC_CLOCK_TIME) // Linux since 6.6 refuses `cycle` to user code; `time` is always there
#define CYC_RISCV_COUNTER "time"
#define CYC_NATIVE_UNIT "ticks"
#else
#define CYC_RISCV_COUNTER "cycle"
#define CYC_NATIVE_UNIT "cycles"
#endif
#define CYC_NATIVE_NAME CYC_RISCV_COUNTER

static inline uint64_t cyc_native_begin(void)
{
    uint64_t value;
    __asm__ volatile("rd" CYC_RISCV_COUNTER " %0" : "=r"(value)::"memory");
    return value;
}

static inline uint64_t cyc_native_end(void)
{
    return cyc_native_begin();
}

#else
#error "no clock for this architecture; add one to core/clock.h"
#endif

#endif
