// SPDX-License-Identifier: BSD-2-Clause
//
// The Linux harness: one process is one run. Reads a plan from standard input, one line per visit,
//     visit KEY METHOD INITIAL DELTA GROUPS TESTS
// and writes the record stream to standard output, each visit closed by the console line `done N`.
// `--list` writes the contracts of all circles instead; `--proof` opens the expensive counters;
// `--symbols` shows a debugger the kernel's functions first; `--exec` adds the programs that a file
// describes (program.h). As the first process of a kernel it takes its options and its plan
// from files of its archive (init.h).
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "counters.h"
#include "host.h"
#include "init.h"
#include "lines.h"
#include "program.h"
#include "registry.h"
#include "run.h"
#include "visit.h"

#define EXIT_USAGE 2
#define EXIT_REFUSED 4

static int first_process;

static void list_circles(struct cyc_writer *w)
{
    const struct cyc_flow none = {0};
    for (const struct registered_circle *const *c = registry_circles(); *c != NULL; c++) {
        struct cyc_contract contract = registry_contract(*c);
        struct cyc_circle circle = {.contract = &contract};
        cyc_record_circle(w, &circle, "accumulated", &none);
    }
}

static _Noreturn void usage(const char *what)
{
    fprintf(stderr,
            "cyclometer-linux: %s; usage: cyclometer-linux [--list] [--proof] [--symbols] [--cpu "
            "N] [--other-cpu N|none] [--apart WORD] [--run N] "
            "[--watchdog SECONDS] [--clock native|referenced|cycles|icount|moved] [--hz N] [--exec "
            "FILE] "
            "[--policy auto|fifo|other|batch|any] [--nice N] [--slice NS] [--break-on NS --tracing "
            "FOLDER]\n",
            what);
    exit(EXIT_USAGE);
}

static void refuse_if(const char *problem, int status)
{
    if (problem == NULL)
        return;
    fprintf(stderr, "cyclometer-linux: %s\n", problem);
    exit(status);
}

static long number(const char *name, const char *text, long least, long most)
{
    char *rest;
    long value = text != NULL ? strtol(text, &rest, 10) : 0;
    if (text == NULL || *text == '\0' || *rest != '\0' || value < least || value > most) {
        char what[120];
        snprintf(what, sizeof what, "%s takes a number from %ld to %ld", name, least, most);
        usage(what);
    }
    return value;
}

static int last_cpu(void)
{
    cpu_set_t set;
    int last = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((unsigned)cpu, &set))
            last = cpu;
    return last;
}

// Whether an option without a value is meant; it is noted then.
static int note_flag(struct options *options, const char *name, int *list)
{
    if (strcmp(name, "--list") == 0)
        return *list = 1;
    if (strcmp(name, "--proof") == 0)
        return options->proof = 1;
    if (strcmp(name, "--symbols") == 0)
        return options->symbols = 1;
    return 0;
}

// Whether an option about scheduling is meant; its value is noted then.
static int note_scheduling(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "--policy") == 0 && value != NULL) {
        options->policy = value;
    } else if (strcmp(name, "--nice") == 0) {
        number(name, value, -20, 19);
        options->nice = value;
    } else if (strcmp(name, "--slice") == 0) {
        number(name, value, 1, 1 << 30);
        options->slice = value;
    } else {
        return 0;
    }
    return 1;
}

// Whether an option about the second CPU is meant; its value is noted then.
static int note_other_cpu(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "--apart") == 0 && value != NULL)
        options->apart = value;
    else if (strcmp(name, "--other-cpu") == 0 && value != NULL && strcmp(value, "none") == 0)
        options->other_cpu = NO_OTHER_CPU;
    else if (strcmp(name, "--other-cpu") == 0)
        options->other_cpu = (int)number(name, value, 0, CPU_SETSIZE - 1);
    else
        return 0;
    return 1;
}

// Whether an option about the kernel's trace is meant; its value is noted then.
static int note_trace(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "--tracing") == 0 && value != NULL)
        options->tracing = value;
    else if (strcmp(name, "--break-on") == 0)
        options->break_on_ns = number(name, value, 1, INT64_MAX);
    else
        return 0;
    return 1;
}

static void check_policy(const struct options *options, int list)
{
    static const char *const known[] = {"auto", "fifo", "other", "batch", "any"};
    size_t i = 0;
    while (i < 5 && strcmp(options->policy, known[i]) != 0)
        i++;
    if (i == 5 || (i == 4 && !list))
        usage("--policy is auto, fifo, other or batch; and any, of --list");
    if (strcmp(options->policy, "auto") != 0 && !options_fair(options) &&
        (options->nice != NULL || options->slice != NULL))
        usage("--nice and --slice are for --policy other and batch");
}

static int parse_options(struct options *options, int argc, char **argv)
{
    int list = 0;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (note_flag(options, name, &list))
            continue;
        if (strcmp(name, "--cpu") == 0)
            options->cpu = (int)number(name, value, 0, CPU_SETSIZE - 1);
        else if (strcmp(name, "--run") == 0)
            options->run = (int)number(name, value, 0, 1 << 30);
        else if (strcmp(name, "--watchdog") == 0)
            options->watchdog_s = (int)number(name, value, 1, 3600);
        else if (strcmp(name, "--clock") == 0 && value != NULL)
            options->clock = value;
        else if (strcmp(name, "--hz") == 0)
            options->hz = (uint64_t)number(name, value, 1, INT64_MAX);
        else if (strcmp(name, "--visit") == 0)
            options->visit = (int)number(name, value, 3, INT_MAX);
        else if (strcmp(name, "--exec") == 0 && value != NULL)
            options->exec = value;
        else if (!note_other_cpu(options, name, value) && !note_scheduling(options, name, value) &&
                 !note_trace(options, name, value))
            usage("unknown option");
        i++;
    }
    if (options->other_cpu == options->cpu)
        usage("--other-cpu names another CPU than --cpu");
    check_policy(options, list);
    if (strcmp(options->clock, "native") != 0 && strcmp(options->clock, "cycles") != 0 &&
        !host_referenced(options) && !options_exact(options))
        usage("--clock is native, referenced, cycles, icount or moved");
    return list;
}

static int read_plan_line(struct visit *visit)
{
    char text[256];
    uint32_t number = visit->number;
    if (fgets(text, sizeof text, stdin) == NULL)
        return 0;
    *visit = (struct visit){.number = number};
    if (sscanf(text, "visit %95s %15s %u %u %u %u", visit->key, visit->method, &visit->flow.initial,
               &visit->flow.delta, &visit->flow.groups, &visit->flow.tests) != 6)
        usage("a plan line is `visit KEY METHOD INITIAL DELTA GROUPS TESTS`");
    return 1;
}

static void run_plan(char **arguments, const struct options *options)
{
    for (; read_plan_line(&run->visit); run->visit.number++) {
        if (registry_find(run->visit.key) != NULL)
            visit_run(arguments, options);
        else
            cyc_record_failed(run_writer(), run->visit.key, "this harness has no such circle");
        lines_flush();
        printf("done %u\n", run->visit.number);
        fflush(stdout);
        if (first_process)
            init_drain();
    }
}

// A visit's process: all that it needs is in the run's memory.
static _Noreturn void make_visit(struct options *options)
{
    struct cyc_clock clock;
    host_join_policy(options);
    run_join(options->visit);
    if (options->exec != NULL)
        refuse_if(programs_read(options->exec), EXIT_USAGE);
    programs_describe();
    refuse_if(registry_prepare(programs_circles(), options), EXIT_USAGE);
    host_join_clock(&clock, options);
    counters_join(options, registry_find(run->visit.key)->circle);
    visit_make(&clock, options);
}

static void prepare_run(struct cyc_clock *clock, const struct options *options)
{
    run_prepare();
    if (options->exec != NULL) {
        refuse_if(programs_read(options->exec), EXIT_USAGE);
        refuse_if(programs_try(options->watchdog_s), EXIT_USAGE);
    }
    programs_describe();
    refuse_if(registry_prepare(programs_circles(), options), EXIT_USAGE);
    refuse_if(host_choose_clock(clock, options), EXIT_REFUSED);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    run->lines.held = first_process;
    host_hello(run_writer(), clock, options);
}

static void measure(char **arguments, const struct options *options)
{
    host_supervise(options);
    if (!options_exact(options))
        host_prepare_evict();
    counters_prepare(options);
    if (options->symbols)
        init_show_symbols();
    run_plan(arguments, options);
}

int main(int argc, char **argv)
{
    struct options options = {.cpu = last_cpu(),
                              .other_cpu = ONE_CPU,
                              .watchdog_s = 10,
                              .clock = "native",
                              .policy = "auto",
                              .visit = -1};
    struct cyc_clock clock;
    first_process = init_is_first();
    if (first_process)
        argc = init_prepare(&argv);
    int list = parse_options(&options, argc, argv);
    if (options.visit >= 0)
        make_visit(&options);
    refuse_if(host_choose_policy(&options), EXIT_REFUSED);
    prepare_run(&clock, &options);
    if (list)
        list_circles(run_writer());
    else
        measure(argv, &options);
    cyc_record_end(run_writer());
    lines_flush();
    return 0;
}
