// SPDX-License-Identifier: BSD-2-Clause
//
// The counters that prove what a test did and that name what disturbed it.
// Opened once a visit, read before and after each test, outside the interval.
#ifndef LINUX_COUNTERS_H
#define LINUX_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

#define PARTICIPANTS_MAX 8

// Finds the tracepoints' numbers; once a run, before any visit. Without tracefs the
// counters that need it are absent from the records.
void counters_prepare(void);
// Opens the visit's counters. `threads` are all participants, the client first;
// `proof` adds the expensive ones (system calls, wake-ups, address-space switches).
void counters_open(int cpu, const pid_t *threads, int count, int proof);
// Names in the order of counters_read; ends with NULL. Valid after counters_open.
const char *const *counters_names(void);
// A cyc_rig `count` function.
void counters_read(void *host, int64_t *counts);

#endif
