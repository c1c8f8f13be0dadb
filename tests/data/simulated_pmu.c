// SPDX-License-Identifier: BSD-2-Clause
//
// Preloaded, it gives a machine without performance counters some: every event of the processor is
// the time that the CPU's clock counts, so cycles are nanoseconds. If SIMULATED_PMU is "none", it
// refuses them as a processor does that has none.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_perf_event_open) {
        struct perf_event_attr *attr = (struct perf_event_attr *)a[0];
        const char *kind = getenv("SIMULATED_PMU");
        if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) {
            if (kind != NULL && strcmp(kind, "none") == 0) {
                errno = ENOENT;
                return -1;
            }
            attr->type = PERF_TYPE_SOFTWARE;
            attr->config = PERF_COUNT_SW_CPU_CLOCK;
            attr->pinned = attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 0;
        }
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
