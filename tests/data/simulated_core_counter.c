// SPDX-License-Identifier: BSD-2-Clause
//
// For LD_PRELOAD: a perf event of core cycles where the machine has none.
// SIMULATED_CORE_COUNTER=absent refuses it, =mapped lets programs read it by themselves, =read by
// read(2) only; it counts three cycles in two ticks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENT 100 // the descriptor, in every process of a run

static long open_event(void)
{
    struct perf_event_mmap_page page = {.index = 1, .pmc_width = 64};
    const char *how = getenv("SIMULATED_CORE_COUNTER");
    if (how == NULL || strcmp(how, "absent") == 0) {
        errno = ENOENT;
        return -1;
    }
    page.cap_user_rdpmc = strcmp(how, "mapped") == 0;
    int file = memfd_create("pmu", 0);
    if (ftruncate(file, 4096) != 0 || pwrite(file, &page, sizeof page, 0) != sizeof page)
        return -1;
    return dup2(file, EVENT);
}

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    const struct perf_event_attr *attr = (const void *)a[0];
    if (number == SYS_perf_event_open && attr->type == PERF_TYPE_HARDWARE)
        return open_event();
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t read(int file, void *to, size_t size)
{
    static ssize_t (*real)(int, void *, size_t);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "read");
    if (file != EVENT)
        return real(file, to, size);
    uint64_t cycles = __builtin_ia32_rdtsc() / 2 * 3;
    pread(file, to, size, 0); // a system call, as it would be
    memcpy(to, &cycles, sizeof cycles);
    return sizeof cycles;
}
