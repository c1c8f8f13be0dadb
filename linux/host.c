// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cyc/chain.h>

#include "core_cycles.h"
#include "run.h"

#define CHAIN_ROUNDS 250       // about 20 us: a timer tick seldom falls into it
#define INDEPENDENT_ROUNDS 250 // about 5 us on a core that issues six instructions per cycle
#define NS_PER_S 1000000000LL
// A timer tick or more; an emulator whose clock skips idle time passes it quickly.
#define REST_US 5000
// So that what the kernel does every millisecond or tick does not fall into every test.
#define STAGGER_US 647

static uint64_t native_begin(void)
{
    return cyc_native_begin();
}

static uint64_t native_end(void)
{
    return cyc_native_end();
}

int64_t host_raw_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

// The native clock's rate from 50 ms beside CLOCK_MONOTONIC_RAW; good to about 1e-5.
static uint64_t native_hz(void)
{
    int64_t start_ns = host_raw_ns();
    uint64_t start = cyc_native_begin();
    int64_t passed_ns;
    do
        passed_ns = host_raw_ns() - start_ns;
    while (passed_ns < NS_PER_S / 20);
    uint64_t passed = cyc_native_end() - start;
    return (uint64_t)((__extension__(__int128) passed * NS_PER_S) / passed_ns);
}

static int clock_moves(const struct options *options)
{
    return strcmp(options->clock, "moved") == 0;
}

int options_exact(const struct options *options)
{
    return strcmp(options->clock, "icount") == 0 || clock_moves(options);
}

int options_moved(const struct options *options)
{
    return clock_moves(options) && !options->proof;
}

// Native clock units of a loop of so many turns; the least of some, for a timer tick may fall into
// one.
static int64_t loop_units(uint64_t turns)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t begin = cyc_native_begin();
        cyc_empty_turns(NULL, turns);
        int64_t units = (int64_t)(cyc_native_end() - begin);
        least = units < least ? units : least;
    }
    return least;
}

// An emulator that counts instructions advances the native clock by one for each: then every turn
// of the empty loop adds its two instructions, however many turns there are. No clock of time does
// that.
//
// If the machine is moved to a simulated core before the first test, the same native clock counts
// that core's cycles there.
static int counts_instructions(void)
{
    for (uint64_t turns = 100; turns <= 100000; turns *= 10)
        if (loop_units(2 * turns) - loop_units(turns) != 2 * (int64_t)turns)
            return 0;
    return 1;
}

// What a kernel still does after its boot may take the CPU from every loop of a size: it is asked
// again while that lasts.
static const char *check_icount(void)
{
    const struct timespec rest = {.tv_nsec = 10000000};
    for (int attempt = 0; attempt < 20; attempt++) {
        if (counts_instructions())
            return NULL;
        nanosleep(&rest, NULL);
    }
    return "the clock of this machine does not count instructions; run QEMU with "
           "-icount shift=0 and the target's default CPU model";
}

static int clock_counts_cycles(const struct options *options)
{
    return strcmp(options->clock, "cycles") == 0;
}

int host_referenced(const struct options *options)
{
    return strcmp(options->clock, "referenced") == 0;
}

static void run_chain(void)
{
    cyc_chain(CHAIN_ROUNDS);
}

static void run_independent(void)
{
    cyc_independent(INDEPENDENT_ROUNDS);
}

// A proof counts what the circle does, and readings beside it are not part of that.
void host_refer(struct cyc_rig *rig, const struct options *options)
{
    int readable = run->cycles_file >= 0 && core_cycles_map(run->cycles_file);
    if (!host_referenced(options) || options->proof)
        return;
    if (readable)
        rig->core = core_cycles_read;
    else if (CYC_CHAIN_ROUND_CYCLES > 0)
        rig->chain = run_chain;
    if (rig->core != NULL || rig->chain != NULL)
        rig->independent = run_independent;
}

void host_join_clock(struct cyc_clock *clock, const struct options *options)
{
    *clock = (struct cyc_clock){.name = CYC_NATIVE_NAME,
                                .unit = CYC_NATIVE_UNIT,
                                .hz = run->hz,
                                .exact = options_exact(options),
                                .begin = native_begin,
                                .end = native_end};
    if (options_exact(options) && !clock_moves(options)) {
        clock->name = "icount";
        clock->unit = "instructions";
    }
    if (clock_counts_cycles(options)) {
        clock->name = "perf.cycles";
        clock->unit = "cycles";
        // A proof counts system calls, and its times are not latencies.
        if (!options->proof)
            clock->begin = clock->end = core_cycles_read;
    }
}

const char *host_choose_clock(struct cyc_clock *clock, const struct options *options)
{
    const char *missing = NULL;
    if (clock_counts_cycles(options) || host_referenced(options))
        run->cycles_file = core_cycles_open(options->cpu);
    if (clock_counts_cycles(options) && run->cycles_file < 0)
        missing = "this machine gives no core-cycle counter (perf_event_open refused it); measure "
                  "with --clock referenced";
    if (options_exact(options))
        missing = check_icount();
    else if (!clock_counts_cycles(options))
        run->hz = options->hz ? options->hz : native_hz();
    if (options_exact(options) && !clock_moves(options))
        run->hz = NS_PER_S;
    host_join_clock(clock, options);
    // A counter of cycles cannot be read here and begins near 0.
    run->origin = clock_counts_cycles(options) ? 0 : native_begin();
    run->origin_ns = (uint64_t)host_raw_ns();
    return missing;
}

const char *host_pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0
               ? NULL
               : "that CPU is not available to this process";
}

void host_join_policy(struct options *options)
{
    if (strcmp(options->policy, "auto") == 0)
        options->policy = sched_getscheduler(0) == SCHED_FIFO ? "fifo" : "other";
}

int options_fair(const struct options *options)
{
    return strcmp(options->policy, "other") == 0 || strcmp(options->policy, "batch") == 0;
}

static int set_policy(int policy, int priority)
{
    struct sched_param param = {.sched_priority = priority};
    return sched_setscheduler(0, policy, &param);
}

void host_schedule(const struct options *options, int priority)
{
    if (!options_fair(options))
        set_policy(SCHED_FIFO, priority);
}

// As in <linux/sched/types.h>, which cannot be included beside <sched.h>.
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

// Since Linux 6.12 the runtime of an ordinary thread is the slice it asks for; older kernels
// ignore it, so it is read back.
static const char *set_slice(uint64_t slice_ns)
{
    struct attributes attributes = {0};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0)
        return "this kernel has no sched_getattr()";
    attributes.size = sizeof attributes;
    attributes.runtime_ns = slice_ns;
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0 ||
        syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
        attributes.runtime_ns != slice_ns)
        return "this kernel takes no slice of that length (Linux 6.12 and later take 100 us to "
               "100 ms); leave --slice out";
    return NULL;
}

static const char *set_fair(const struct options *options)
{
    int policy = strcmp(options->policy, "batch") == 0 ? SCHED_BATCH : SCHED_OTHER;
    if (set_policy(policy, 0) != 0)
        return "the kernel refuses this policy to this process";
    if (options->nice != NULL && setpriority(PRIO_PROCESS, 0, atoi(options->nice)) != 0)
        return "the kernel refuses that nice value to this process; take a higher one, or run as "
               "root";
    return options->slice != NULL ? set_slice((uint64_t)atoll(options->slice)) : NULL;
}

const char *host_choose_policy(struct options *options)
{
    if (strcmp(options->policy, "any") == 0)
        return NULL;
    int automatic = strcmp(options->policy, "auto") == 0;
    int fair_asked = options->nice != NULL || options->slice != NULL;
    int fifo = set_policy(SCHED_FIFO, 1) == 0;
    if (fifo)
        set_policy(SCHED_OTHER, 0);
    if (automatic)
        options->policy = fifo && !fair_asked ? "fifo" : "other";
    if (options_fair(options))
        return set_fair(options);
    if (!fifo)
        return "the kernel refuses SCHED_FIFO to this process; run as root, allow it with ulimit "
               "-r 99, or measure with --policy other";
    return NULL;
}

static int future_locked;

int host_lock_memory(size_t stack_bytes)
{
    int locked = mlockall(MCL_CURRENT | MCL_FUTURE);
    future_locked = locked == 0;
    volatile char *stack = __builtin_alloca(stack_bytes);
    for (size_t i = 0; i < stack_bytes; i += 4096)
        stack[i] = 1;
    return locked;
}

void host_unlock_future_memory(void)
{
    mlockall(MCL_CURRENT);
    future_locked = 0;
}

// With two CPUs of which both are measured it shares the peers' one, and sleeps while they run.
void host_supervise(const struct options *options)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    CPU_CLR((unsigned)options->cpu, &set);
    if (options->other_cpu >= 0 && CPU_COUNT(&set) > 1)
        CPU_CLR((unsigned)options->other_cpu, &set);
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof set, &set);
}

void host_rest(void *host)
{
    static unsigned rests;
    (void)host;
    usleep(REST_US + rests++ * STAGGER_US % REST_US);
}

// Twice the last-level cache where the C library knows it, at most 64 MiB.
static size_t evict_bytes(void)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache <= 0)
        cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    size_t bytes = cache > 0 ? 2 * (size_t)cache : (size_t)16 << 20;
    return bytes > (size_t)64 << 20 ? (size_t)64 << 20 : bytes;
}

// The pages are made once; a visit maps them only when it evicts, for a mapping of this size makes
// every fork and every lock of memory slow.
void host_prepare_evict(void)
{
    run->evict_file = (int)syscall(SYS_memfd_create, "evict", 1u /* MFD_CLOEXEC */);
    if (run->evict_file >= 0 && fallocate(run->evict_file, 0, 0, (off_t)evict_bytes()) != 0) {
        close(run->evict_file);
        run->evict_file = -1;
    }
}

// Not locked in memory, as all else may be: that takes as long for so many pages as to read them.
static void *map_evict(size_t bytes)
{
    if (future_locked)
        mlockall(MCL_FUTURE | MCL_ONFAULT);
    void *buffer = mmap(NULL, bytes, PROT_READ, MAP_SHARED, run->evict_file, 0);
    if (buffer != MAP_FAILED)
        munlock(buffer, bytes);
    if (future_locked)
        mlockall(MCL_FUTURE);
    return buffer;
}

void host_evict(void *host)
{
    size_t bytes = evict_bytes();
    (void)host;
    void *buffer = map_evict(bytes);
    if (buffer == MAP_FAILED)
        return;
    for (size_t i = 0; i < bytes; i += 64)
        (void)((volatile const char *)buffer)[i];
    munmap(buffer, bytes);
}

#define FACTS_MAX 64

// What hello says about the build; texts live until the process ends.
static struct cyc_param facts[FACTS_MAX + 1];
static int facts_count;

static void add_fact(const char *name, const char *value)
{
    if (facts_count < FACTS_MAX)
        facts[facts_count++] = (struct cyc_param){strdup(name), strdup(value)};
}

// The first line of a file, if the kernel has it.
static void add_file(const char *name, const char *path)
{
    char text[4096];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(text, sizeof text, file) != NULL) {
        text[strcspn(text, "\n")] = '\0';
        add_fact(name, text);
    }
    fclose(file);
}

// The C library that runs, which need not be the one that was linked.
static void add_libc(void)
{
#ifdef _CS_GNU_LIBC_VERSION
    char version[80];
    if (confstr(_CS_GNU_LIBC_VERSION, version, sizeof version) > 0)
        add_fact("libc", version);
#endif
}

// A program that a dynamic linker has loaded knows where the linker is.
static void add_linking(void)
{
    add_fact("linking", getauxval(AT_BASE) != 0 ? "dynamic" : "static");
}

// What decides how many instructions a kernel needs, for a laboratory that cannot look at the
// machine.
static void add_kernel(void)
{
    const char *folder = "/sys/devices/system/cpu/vulnerabilities";
    struct dirent **found;
    add_file("banner", "/proc/version");
    add_file("command_line", "/proc/cmdline");
    int count = scandir(folder, &found, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char name[80], path[160];
        snprintf(name, sizeof name, "mitigation.%.60s", found[i]->d_name);
        snprintf(path, sizeof path, "%s/%.60s", folder, found[i]->d_name);
        if (found[i]->d_name[0] != '.')
            add_file(name, path);
    }
}

void host_hello(struct cyc_writer *w, const struct cyc_clock *clock, const struct options *options)
{
    struct utsname uts;
    char cpu[12], nice[12];
    uname(&uts);
    snprintf(cpu, sizeof cpu, "%d", options->cpu);
    add_fact("compiler", __VERSION__);
    add_libc();
    add_fact("cpu", cpu);
    if (options->other_cpu >= 0) {
        snprintf(cpu, sizeof cpu, "%d", options->other_cpu);
        add_fact("other_cpu", cpu);
        add_fact("cpus_apart", options->apart != NULL ? options->apart : "unknown");
    }
    if (options_exact(options))
        add_kernel();
    else
        add_linking();
    struct cyc_param configuration[5] = {{"policy", options->policy}, {"machine", uts.machine}};
    size_t known = 2;
    if (options_fair(options)) {
        snprintf(nice, sizeof nice, "%d", getpriority(PRIO_PROCESS, 0));
        configuration[known++] = (struct cyc_param){"nice", nice};
    }
    if (options->slice != NULL)
        configuration[known] = (struct cyc_param){"slice_ns", options->slice};
    int shared = clock->begin == native_begin && !clock->exact;
    const struct cyc_hello hello = {
        .target = "linux",
        .kernel = uts.release,
        .configuration = configuration,
        .build = facts,
        .chain_cycles = host_referenced(options) ? CHAIN_ROUNDS * CYC_CHAIN_ROUND_CYCLES : 0,
        .origin = shared ? run->origin : 0,
        .origin_ns = shared ? run->origin_ns : 0};
    cyc_record_hello(w, clock, &hello, (uint32_t)options->run);
}
