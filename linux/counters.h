// SPDX-License-Identifier: BSD-2-Clause
//
// The counters that prove what a test did and that name what disturbed it.
// Opened once a visit, read before and after each test, outside the interval.
#ifndef LINUX_COUNTERS_H
#define LINUX_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

#include "host.h"
#include "linux_circle.h"

#define PARTICIPANTS_MAX 8
#define COMMON_MAX 32

// Where a counter is read; counters.c has a function for each.
enum counter_source {
    EVENTS,
    ENTRIES_EVENTS,
    SCHEDSTAT,
    VOLUNTARY,
    INVOLUNTARY,
    FAULTS,
    HANDLED,
    CONTENDED,
    RESTS,
    ELSEWHERE,
    MIGRATIONS,
    STEAL,
    STAT_INTERRUPTS,
    STAT_SWITCHES,
    FREQUENCY,
};

// The circles for which a counter is read: those of one CPU, of two, or all.
enum counter_use { ALWAYS, OF_ONE_CPU, OF_TWO_CPUS };

// A counter is one name and the sum of what its file descriptors say.
struct counter {
    char name[24];
    enum counter_source source;
    enum counter_use use;
    int cpu; // that it watches, of STEAL
    int fds[PARTICIPANTS_MAX];
    int count;
};

// The counters that watch the CPU and serve every visit; part of struct run.
struct common_counters {
    struct counter counters[COMMON_MAX];
    int count;
    int enter_id; // the tracepoint of system calls
};

// Opens what watches the whole CPU, once a run: opening and closing a tracepoint makes the kernel
// wait for every CPU. A proof adds the expensive counters (system calls, wake-ups, address-space
// switches), which slow the machine down while they are open. Without tracefs or the
// right to watch a CPU, the counters that need them are absent from the records.
// On an exact clock the kernel's own totals are read instead, so that no event of ours is part of
// what is counted.
void counters_prepare(const struct options *options);
// Takes over what that opened, in a visit's process: as much of it as this circle needs.
void counters_join(const struct options *options, const struct linux_circle *circle);
// Adds the participants of a visit, the client first, in the visit's own process.
void counters_open(const pid_t *threads, int count);
// Whether a contract may expect this counter. Not every machine can count each of them.
int counters_known(const char *name);
// Names in the order of counters_read; ends with NULL. Valid after counters_open.
const char *const *counters_names(void);
// Counts what self->idle() does by itself; from now on every reading leaves that out, once for each
// of outcomes->requests. Calls it some times. After counters_open.
void counters_exclude(const struct linux_circle *self);
// A cyc_rig `count` function. If the peers run on another CPU it first waits, for a bounded time,
// until they sleep: the last call of a turn may still be on its way there.
void counters_read(void *host, int64_t *counts);

#endif
