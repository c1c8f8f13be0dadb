// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "core_cycles.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cyc/clock.h>

#define TRIES 16
#define CHEAP_TICKS 1000 // of the native clock; a real counter takes 20 to 60

// A test build puts a counter of its own here (tests/e2e/test_core_cycles.py).
#if !defined(CYC_READ_PMC) && defined(__x86_64__)
static inline uint64_t read_pmc(uint32_t counter)
{
    uint32_t low, high;
    // As the clock's reading: nothing that is timed moves across it.
    __asm__ volatile("lfence\n\trdpmc\n\tlfence" : "=a"(low), "=d"(high) : "c"(counter) : "memory");
    return (uint64_t)high << 32 | low;
}
#define CYC_READ_PMC(counter) read_pmc(counter)
#elif !defined(CYC_READ_PMC)
// A counter of a whole CPU is not for programs to read there.
#define CYC_READ_PMC(counter) ((uint64_t)(counter) * 0)
#endif

static int event_file = -1;
static const volatile struct perf_event_mmap_page *page; // NULL: read(2) is the way

int core_cycles_open(int cpu)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_HARDWARE,
                                   .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .pinned = 1};
    return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

// perf_event_open(2), "struct perf_event_mmap_page": the kernel's part of the count and the
// counter's bits, consistent if the sequence number did not move meanwhile.
static uint64_t read_mapped(void)
{
    uint32_t sequence, index;
    uint64_t count;
    do {
        sequence = page->lock;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        index = page->index;
        unsigned unused = 64u - page->pmc_width;
        int64_t counter = index ? (int64_t)(CYC_READ_PMC(index - 1) << unused) >> unused : 0;
        count = (uint64_t)(page->offset + counter);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (page->lock != sequence);
    if (index == 0)
        abort(); // a pinned event that lost its counter leaves no number worth keeping
    return count;
}

uint64_t core_cycles_read(void)
{
    uint64_t value = 0;
    if (page != NULL)
        return read_mapped();
    if (read(event_file, &value, sizeof value) != (ssize_t)sizeof value)
        abort(); // the same
    return value;
}

#if defined(__x86_64__)
static int is_cheap(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t begin = cyc_native_begin();
        read_mapped();
        uint64_t took = cyc_native_end() - begin;
        least = took < least ? took : least;
    }
    return least <= CHEAP_TICKS;
}
#endif

int core_cycles_map(int event)
{
    event_file = event;
    page = NULL;
#if defined(__x86_64__)
    void *mapped = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, event, 0);
    if (mapped == MAP_FAILED)
        return 0;
    page = mapped;
    if (!page->cap_user_rdpmc || page->index == 0 || !is_cheap())
        page = NULL;
#endif
    return page != NULL;
}
