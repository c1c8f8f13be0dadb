// SPDX-License-Identifier: BSD-2-Clause
//
// The Linux harness: one process is one run. Reads a plan from standard input, a line a visit,
//     visit KEY METHOD INITIAL DELTA GROUPS TESTS
// and writes the record stream to standard output, each visit closed by the console line `done N`.
// `--list` writes the contracts of all circles instead; `--proof` opens the expensive counters; `--symbols` prints
// the kernel's functions first.
// As the first process of a kernel it takes both from files of its archive (init.h).
#define _GNU_SOURCE
#include <errno.h>
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
#include "visit.h"

#define EXIT_USAGE 2
#define EXIT_REFUSED 4
#define EXIT_FAILED 5

// Lines leave whole, so that a kill between two of them loses only what was not measured. Supervisor and visits
// share them: as the kernel's first process the supervisor alone prints, between visits, for a circle may keep
// the console's own thread from running.
static struct {
    size_t length;
    char bytes[1 << 17]; // small: every visit locks it in memory
} *lines;
static int first_process;

static void flush_lines(void)
{
    for (size_t sent = 0; sent < lines->length;) {
        ssize_t wrote = write(STDOUT_FILENO, lines->bytes + sent, lines->length - sent);
        if (wrote < 0 && errno != EINTR)
            exit(EXIT_FAILED); // the laboratory is gone
        sent += wrote > 0 ? (size_t)wrote : 0;
    }
    lines->length = 0;
}

static void put_line(void *context, const char *bytes, size_t length)
{
    (void)context;
    if (lines->length + length > sizeof lines->bytes)
        flush_lines();
    memcpy(lines->bytes + lines->length, bytes, length);
    lines->length += length;
    if (bytes[length - 1] == '\n' && !first_process)
        flush_lines();
}

static const struct circle *find_circle(const char *key)
{
    for (const struct circle *const *family = families; *family != NULL; family++)
        for (const struct circle *c = *family; c->contract.key != NULL; c++)
            if (strcmp(c->contract.key, key) == 0)
                return c;
    return NULL;
}

static void list_circles(struct cyc_writer *w)
{
    const struct cyc_flow none = {0};
    for (const struct circle *const *family = families; *family != NULL; family++)
        for (const struct circle *c = *family; c->contract.key != NULL; c++) {
            struct cyc_circle circle = {.contract = &c->contract};
            cyc_record_circle(w, &circle, "accumulated", &none);
        }
}

static _Noreturn void usage(const char *what)
{
    fprintf(stderr,
            "cyclometer-linux: %s; usage: cyclometer-linux [--list] [--proof] [--symbols] [--cpu N] [--run N] "
            "[--watchdog SECONDS] [--clock native|cycles|icount]\n",
            what);
    exit(EXIT_USAGE);
}

static _Noreturn void refuse(const char *sentence)
{
    fprintf(stderr, "cyclometer-linux: %s\n", sentence);
    exit(EXIT_REFUSED);
}

static int number(const char *name, const char *text, int least, int most)
{
    char *rest;
    long value = text != NULL ? strtol(text, &rest, 10) : 0;
    if (text == NULL || *text == '\0' || *rest != '\0' || value < least || value > most) {
        char what[120];
        snprintf(what, sizeof what, "%s takes a number from %d to %d", name, least, most);
        usage(what);
    }
    return (int)value;
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

static int parse_options(struct options *options, int argc, char **argv)
{
    int list = 0;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (note_flag(options, name, &list))
            continue;
        if (strcmp(name, "--cpu") == 0)
            options->cpu = number(name, value, 0, CPU_SETSIZE - 1);
        else if (strcmp(name, "--run") == 0)
            options->run = number(name, value, 0, 1 << 30);
        else if (strcmp(name, "--watchdog") == 0)
            options->watchdog_s = number(name, value, 1, 3600);
        else if (strcmp(name, "--clock") == 0 && value != NULL)
            options->clock = value;
        else
            usage("unknown option");
        i++;
    }
    if (strcmp(options->clock, "native") != 0 && strcmp(options->clock, "cycles") != 0 && !options_exact(options))
        usage("--clock is native, cycles or icount");
    return list;
}

static void run_plan(const struct cyc_clock *clock, const struct options *options)
{
    char text[256], key[96], method[16];
    struct visit visit = {.number = 0};
    while (fgets(text, sizeof text, stdin) != NULL) {
        int fields = sscanf(text, "visit %95s %15s %u %u %u %u", key, method, &visit.flow.initial, &visit.flow.delta,
                            &visit.flow.groups, &visit.flow.tests);
        visit.method = method;
        visit.circle = fields == 6 ? find_circle(key) : NULL;
        if (visit.circle != NULL)
            visit_run(&visit, clock, options);
        else if (fields == 6)
            cyc_record_failed(visit_writer(), key, "this harness has no such circle");
        else
            usage("a plan line is `visit KEY METHOD INITIAL DELTA GROUPS TESTS`");
        flush_lines();
        printf("done %u\n", visit.number++);
        fflush(stdout);
        if (first_process)
            init_drain();
    }
}

int main(int argc, char **argv)
{
    struct options options = {.cpu = last_cpu(), .watchdog_s = 10, .clock = "native"};
    struct cyc_writer writer = {.put = put_line};
    struct cyc_clock clock;
    first_process = init_is_first();
    if (first_process)
        argc = init_prepare(&argv);
    int list = parse_options(&options, argc, argv);
    const char *missing = host_choose_clock(&clock, &options);
    if (missing != NULL)
        refuse(missing);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    lines = shared_alloc(sizeof *lines);
    visit_prepare(&writer);
    host_hello(visit_writer(), &clock, &options);
    if (list) {
        list_circles(visit_writer());
    } else {
        host_supervise(options.cpu);
        if (!options_exact(&options))
            host_prepare_evict();
        counters_prepare(&options);
        if (options.symbols)
            init_print_symbols();
        run_plan(&clock, &options);
    }
    cyc_record_end(visit_writer());
    flush_lines();
    return 0;
}
