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

// The clocks that a program can read on this architecture, the native one first; the last has no
// name. `hz` and `exact` are for the port to set. Empty if the core knows none: the port brings its
// own functions then. They must count up to 2^64, so a port extends a counter of 32 bits.
extern const struct cyc_clock cyc_clocks[];
// The clock of this name, or the native one for "". NULL if there is no such clock.
const struct cyc_clock *cyc_clock_find(const char *name);

// Marks around the interval of a test, for a tracer of the machine: instructions that change no
// state, recognised by their encoding. They stand outside of the two readings, so that no latency
// contains one.
//   x86-64   0f 1f 80 and the mark: nopl with a 32-bit displacement
//   aarch64  movz xzr
//   riscv    slti x0, which the ISA leaves to custom hints
#if defined(__x86_64__)
#define CYC_HINT(mark) __asm__ volatile("nopl 0x0cbc0" #mark "(%rax)")
#elif defined(__aarch64__)
#define CYC_HINT(mark) __asm__ volatile("movz xzr, #0x" #mark)
#elif defined(__riscv)
#define CYC_HINT(mark) __asm__ volatile("slti x0, x0, 0x" #mark)
#else
#define CYC_HINT(mark) ((void)0)
#endif
#define CYC_HINT_OPEN() CYC_HINT(7c1)
#define CYC_HINT_CLOSE() CYC_HINT(7c2)
// Here a debugger may stop the machine and move it to another one, as if nothing had happened.
#define CYC_HINT_MOVE() CYC_HINT(7c3)

// The native clock, read without a call. Which of several counters it is on AArch64 and RISC-V is
// chosen when compiling.
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

// Arm ARM D12.2: reads of CNTVCT_EL0 and PMCCNTR_EL0 may be taken early unless an ISB precedes
// them. The kernel under test must have enabled PMCCNTR_EL0 for the level that reads it.
#define CYC_READ_COUNTER(counter, value) \
    __asm__ volatile("isb\n\tmrs %0, " counter "\n\tisb" : "=r"(value)::"memory")
#if defined(CYC_CLOCK_PMCCNTR)
#define CYC_NATIVE_COUNTER "pmccntr_el0"
#define CYC_NATIVE_NAME "pmccntr"
#define CYC_NATIVE_UNIT "cycles"
#else
#define CYC_NATIVE_COUNTER "cntvct_el0"
#define CYC_NATIVE_NAME "cntvct"
#define CYC_NATIVE_UNIT "ticks"
#endif

static inline uint64_t cyc_native_begin(void)
{
    uint64_t value;
    CYC_READ_COUNTER(CYC_NATIVE_COUNTER, value);
    return value;
}

static inline uint64_t cyc_native_end(void)
{
    return cyc_native_begin();
}

#elif defined(__riscv) && __riscv_xlen == 64

// RISC-V Unprivileged ISA, Zicntr: the counters are CSRs, read in program order on every core we
// know; a compiler barrier is enough. Linux since 6.6 refuses `cycle` to programs; `time` is always
// there.
#define CYC_READ_COUNTER(counter, value) \
    __asm__ volatile("rd" counter " %0" : "=r"(value)::"memory")
#if defined(CYC_CLOCK_INSTRET)
#define CYC_NATIVE_NAME "instret"
#define CYC_NATIVE_UNIT "instructions"
#elif defined(CYC_CLOCK_TIME)
#define CYC_NATIVE_NAME "time"
#define CYC_NATIVE_UNIT "ticks"
#else
#define CYC_NATIVE_NAME "cycle"
#define CYC_NATIVE_UNIT "cycles"
#endif

static inline uint64_t cyc_native_begin(void)
{
    uint64_t value;
    CYC_READ_COUNTER(CYC_NATIVE_NAME, value);
    return value;
}

static inline uint64_t cyc_native_end(void)
{
    return cyc_native_begin();
}

#endif

#endif
