// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "break_on.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "run.h"

#define NS_PER_S 1e9

static int tracing_on, trace_marker;
static double limit; // in the clock's unit
static int64_t (*timed_pass)(void *arg);
static int64_t last; // that a pass took
static int in_test;

static int64_t watched_pass(void *arg)
{
    last = timed_pass(arg);
    return last;
}

static void stop_trace(void)
{
    char text[160];
    int length = snprintf(text, sizeof text, "cyclometer: %s took %.0f ns\n", run->visit.key,
                          (double)last * NS_PER_S / (double)clock_hz());
    must(write(trace_marker, text, (size_t)length), "write to trace_marker");
    must(write(tracing_on, "0", 1), "write to tracing_on");
}

// Turns that settle the peers lie outside of a test. The trace is stopped behind the last reading
// of the counters, so that its system calls are not the circle's.
static void count(void *host, int64_t *counts)
{
    counters_read(host, counts);
    in_test = !in_test;
    if (in_test) {
        last = 0;
    } else if (tracing_on >= 0 && (double)last > limit) {
        stop_trace();
        tracing_on = -1;
    }
}

static int open_file(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return (int)must(open(path, O_WRONLY | O_CLOEXEC), name);
}

void break_on_watch(struct cyc_rig *rig, struct cyc_circle *circle, const struct options *options)
{
    if (options->tracing == NULL || circle->pass == NULL ||
        strcmp(run->visit.method, "direct") != 0)
        return;
    if (clock_hz() == 0)
        circle_skip("--break-on needs a clock of a known rate; use --clock referenced");
    limit = (double)options->break_on_ns * (double)clock_hz() / NS_PER_S;
    trace_marker = open_file(options->tracing, "trace_marker");
    tracing_on = open_file(options->tracing, "tracing_on");
    timed_pass = circle->pass;
    circle->pass = watched_pass;
    rig->count = count;
}
