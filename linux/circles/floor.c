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
// Without branches, which another thread of the same core would make slower.
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            x *= 0x9e3779b97f4a7c15u;
            // Each product is needed, so none is folded into the next.
            __asm__ volatile("" : "+r"(x));
        }
    }
}

#define LINE_BYTES 64
#define LOADS 64
#define WALKS 4
#define L2_BYTES (256 << 10) // if the C library does not know

static void **line; // where the walk has come to

// Links the lines of three quarters of the second-level cache to one random cycle (Sattolo 1986),
// in an order that is the same every time, and walks it until the cache holds what it can.
static void link_lines(const struct linux_circle *self)
{
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    size_t bytes = (cache > 0 ? (size_t)cache : L2_BYTES) / 4 * 3, count = bytes / LINE_BYTES;
    char *lines = shared_alloc(bytes);
    uint64_t random = 1;
    (void)self;
    for (size_t i = 0; i < count; i++)
        *(void **)(void *)(lines + i * LINE_BYTES) = lines + i * LINE_BYTES;
    for (size_t i = count - 1; i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        void **one = (void **)(void *)(lines + i * LINE_BYTES);
        void **other = (void **)(void *)(lines + (random >> 33) % i * LINE_BYTES);
        void *swapped = *one;
        *one = *other;
        *other = swapped;
    }
    line = (void **)(void *)lines;
    for (size_t i = 0; i < WALKS * count; i++)
        line = *line;
}

static void cache_turns(void *arg, uint64_t turns)
{
    void **at = line;
    (void)arg;
    for (turns *= LOADS; turns > 0; turns--) {
        at = *at;
        __asm__ volatile("" : "+r"(at)); // each load waits for the one before it
    }
    line = at;
}

// A branch over the rest of 16 bytes, 4096 times: 64 KiB of code that is run once a turn.
#if defined(__x86_64__)
#define CODE ".rept 4096\n\tjmp 1f\n\t.fill 14, 1, 0x90\n1:\n\t.endr"
#elif defined(__aarch64__)
#define CODE ".rept 4096\n\tb 1f\n\tnop\n\tnop\n\tnop\n1:\n\t.endr"
#elif defined(__riscv)
#define CODE                                                                           \
    ".option push\n\t.option norvc\n\t.rept 4096\n\tj 1f\n\tnop\n\tnop\n\tnop\n1:\n\t" \
    ".endr\n\t.option pop"
#endif

static __attribute__((noinline)) void code_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        __asm__ volatile(CODE);
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

// The three of them tell what the core, its caches and its front end had left for a program.
CIRCLE("floor.cache") = {
    .title = "64 dependent loads from three quarters of the second-level cache",
    ALONE("load x 64"),
    .expect = ENTRIES(0),
    .params = CYC_PARAMS({"loads", "64"}),
    .setup = link_lines,
    .turns = cache_turns,
};

CIRCLE("floor.code") = {
    .title = "64 KiB of code with 4096 taken branches",
    ALONE("branch x 4096"),
    .expect = ENTRIES(0),
    .params = CYC_PARAMS({"code", "64 KiB"}),
    .turns = code_turns,
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
