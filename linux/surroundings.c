// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "surroundings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cyc/flow.h>

#include "counters.h"
#include "run.h"

#define UNKNOWN INT64_MIN

struct surroundings {
    int64_t raw_ns, pressure_us;
    int64_t counts[CYC_COUNTERS_MAX];
};
static struct surroundings before;

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=N": how long some task has waited for a CPU.
static int64_t read_pressure(void)
{
    char text[256] = "";
    int fd = open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return UNKNOWN;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    const char *total = got > 0 ? strstr(text, "total=") : NULL;
    return total != NULL ? atoll(total + strlen("total=")) : UNKNOWN;
}

static void read_now(struct surroundings *now)
{
    now->raw_ns = host_raw_ns();
    now->pressure_us = read_pressure();
    counters_read(NULL, now->counts);
}

void surroundings_begin(void)
{
    read_now(&before);
}

static int64_t passed(const struct surroundings *now, const char *counter)
{
    const char *const *names = counters_names();
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], counter) == 0)
            return now->counts[i] - before.counts[i];
    return UNKNOWN;
}

static int named(const struct cyc_expect *counts, const char *counter)
{
    for (const struct cyc_expect *e = counts; e != NULL && e->counter != NULL; e++)
        if (strcmp(e->counter, counter) == 0)
            return 1;
    return 0;
}

static int bounded(const struct cyc_contract *contract, const char *counter)
{
    return named(contract->expect, counter) || named(contract->at_least, counter);
}

// Switches of the CPU that are none of the participants'. They tell nothing about a circle whose
// own turns make others switch, such as a thread it starts or the idle CPU.
static int64_t foreign_switches(const struct surroundings *now, const struct cyc_contract *contract)
{
    int64_t all = passed(now, "cpu_switches"), own = passed(now, "switches");
    if (all == UNKNOWN || own == UNKNOWN || !bounded(contract, "switches") ||
        bounded(contract, "cpu_switches"))
        return UNKNOWN;
    return all > own ? all - own : 0;
}

static void write_known(const char *name, int64_t value)
{
    if (value != UNKNOWN)
        cyc_record_int(run_writer(), name, value);
}

void surroundings_end(const struct cyc_contract *contract)
{
    struct surroundings now;
    struct cyc_writer *w = run_writer();
    read_now(&now);
    cyc_record_open(w, "visit");
    cyc_record_text(w, "circle", contract->key);
    cyc_record_text(w, "method", run->visit.method);
    cyc_record_int(w, "visit", run->visit.number);
    cyc_record_object_open(w, "counts");
    write_known("elapsed_ns", now.raw_ns - before.raw_ns);
    write_known("foreign_switches", foreign_switches(&now, contract));
    write_known("steal_ns", passed(&now, "steal_ns"));
    if (before.pressure_us != UNKNOWN && now.pressure_us != UNKNOWN)
        write_known("pressure_us", now.pressure_us - before.pressure_us);
    cyc_record_object_close(w);
    cyc_record_close(w);
}
