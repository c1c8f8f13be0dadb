// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "surroundings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cyc/flow.h>

#include "clock_offset.h"
#include "counters.h"
#include "idle_states.h"
#include "run.h"

#define UNKNOWN INT64_MIN

struct surroundings {
    int64_t raw_ns, pressure_us, idle_us;
    int64_t counts[CYC_COUNTERS_MAX];
    struct idle_states idle; // of the peers' CPU, in a circle of two CPUs
};
static struct surroundings before;

// Reads the begin of a file as a string, which is empty if that fails.
static void read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=N": how long some task has waited for a CPU.
static int64_t read_pressure(void)
{
    char text[256];
    read_text("/proc/pressure/cpu", text, sizeof text);
    const char *total = strstr(text, "total=");
    return total != NULL ? atoll(total + strlen("total=")) : UNKNOWN;
}

// "UPTIME IDLE" in seconds, the latter summed over all CPUs and in steps of 10 ms.
static int64_t read_idle(void)
{
    char text[64];
    read_text("/proc/uptime", text, sizeof text);
    const char *idle_s = strchr(text, ' ');
    return idle_s != NULL ? (int64_t)(atof(idle_s) * 1e6) / sysconf(_SC_NPROCESSORS_ONLN) : UNKNOWN;
}

static void read_now(struct surroundings *now, const struct linux_circle *self)
{
    if (self->placement == OTHER_CPU)
        idle_states_read(&now->idle, cpu_of(OTHER_CPU));
    now->raw_ns = host_raw_ns();
    now->pressure_us = read_pressure();
    now->idle_us = read_idle();
    counters_read(NULL, now->counts);
}

void surroundings_begin(const struct linux_circle *self, const struct options *options)
{
    if (clock_offset_matters(self))
        clock_offset_bound(self, options);
    read_now(&before, self);
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

static void write_idle_states(const struct idle_states *now)
{
    struct cyc_writer *w = run_writer();
    if (now->count == 0 || now->count != before.idle.count)
        return;
    cyc_record_object_open(w, "idle_states");
    for (int i = 0; i < now->count; i++)
        cyc_record_int(w, now->state[i].name, now->state[i].entered - before.idle.state[i].entered);
    cyc_record_object_close(w);
}

void surroundings_end(const struct linux_circle *self, const struct options *options,
                      const struct cyc_contract *contract)
{
    struct surroundings now = {0};
    struct cyc_writer *w = run_writer();
    read_now(&now, self);
    if (clock_offset_matters(self))
        clock_offset_bound(self, options);
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
    if (before.idle_us != UNKNOWN && now.idle_us != UNKNOWN)
        write_known("idle_us", now.idle_us - before.idle_us);
    if (clock_offset_matters(self))
        write_known("clock_offset_ns", clock_offset_ns());
    write_idle_states(&now.idle);
    cyc_record_object_close(w);
    cyc_record_close(w);
}
