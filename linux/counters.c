// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "counters.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cyc/flow.h>

#include "run.h"

static struct counter counters[CYC_COUNTERS_MAX];
static const char *names[CYC_COUNTERS_MAX + 1];
static int used;
static int common_used; // of those, the ones that watch whole CPUs
static int visit_cpu, peer_cpu;
static const struct linux_circle *visited;

// Tracepoints by what they prove. Interrupt entries have several names over the architectures;
// those a kernel does not have are left out of the sum.
// The last ones are interrupts that one CPU sends another.
enum { TRACE_INTERRUPTS = 8, TRACE_IPIS = 4 };
static const char *const interrupt_events[TRACE_INTERRUPTS] = {
    "irq/irq_handler_entry",
    "irq_vectors/local_timer_entry",
    "irq_vectors/irq_work_entry",
    "irq_vectors/thermal_apic_entry",
    "irq_vectors/reschedule_entry",
    "irq_vectors/call_function_entry",
    "irq_vectors/call_function_single_entry",
    "ipi/ipi_entry",
};
static int interrupt_ids[TRACE_INTERRUPTS];
static int enter_id, wakeup_id, tlb_id, idle_id;
static int proving;
enum { TRIES = 8 }; // on a CPU so busy that none of them is whole, tests are disturbed anyway

static int event_id(const char *root, const char *event)
{
    char path[160], text[16] = "";
    snprintf(path, sizeof path, "%s/events/%s/id", root, event);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    return got > 0 ? atoi(text) : 0;
}

static void read_ids(const char *root)
{
    for (int i = 0; i < TRACE_INTERRUPTS; i++)
        interrupt_ids[i] = event_id(root, interrupt_events[i]);
    enter_id = event_id(root, "raw_syscalls/sys_enter");
    wakeup_id = event_id(root, "sched/sched_wakeup");
    tlb_id = event_id(root, "tlb/tlb_flush");
    idle_id = event_id(root, "power/cpu_idle");
}

static void pass_ids(int fd, int writing)
{
    int *const groups[] = {interrupt_ids, &enter_id, &wakeup_id, &tlb_id, &idle_id};
    const size_t sizes[] = {sizeof interrupt_ids, sizeof(int), sizeof(int), sizeof(int),
                            sizeof(int)};
    for (int i = 0; i < 5; i++) {
        ssize_t moved = writing ? write(fd, groups[i], sizes[i]) : read(fd, groups[i], sizes[i]);
        if (moved != (ssize_t)sizes[i])
            return;
    }
}

// Where tracefs is not mounted, a child mounts it in a mount namespace of its own
// and reports the numbers: the machine stays as it was.
static void read_ids_from_private_mount(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) == 0)
            read_ids("/sys/kernel/tracing");
        pass_ids(ends[1], 1);
        _exit(0);
    }
    close(ends[1]);
    pass_ids(ends[0], 0);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static int open_event(uint32_t type, uint64_t config, pid_t thread, int cpu)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = type, .config = config};
    return (int)syscall(SYS_perf_event_open, &attr, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

// The readings themselves are system calls: `own_entries` of them fall between two readings of
// the `entries` counter, found out once by two readings with nothing between.
static int64_t own_entries, readings;

static int64_t read_events(const struct counter *counter)
{
    int64_t sum = 0, value;
    for (int i = 0; i < counter->count; i++)
        if (read(counter->fds[i], &value, sizeof value) == (ssize_t)sizeof value)
            sum += value;
    return sum;
}

// /proc/<tid>/schedstat: "run_ns wait_ns times_scheduled_in". Cheap, exact, needs no privilege.
static int64_t read_schedstat(const struct counter *counter)
{
    int64_t sum = 0;
    for (int i = 0; i < counter->count; i++) {
        char text[96];
        ssize_t got = pread(counter->fds[i], text, sizeof text - 1, 0);
        if (got <= 0)
            continue;
        text[got] = '\0';
        sum += atoll(strrchr(text, ' ') + 1);
    }
    return sum;
}

static struct rusage usage; // one getrusage serves the three counters after it

static int64_t read_voluntary(const struct counter *counter)
{
    (void)counter;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static int64_t read_involuntary(const struct counter *counter)
{
    (void)counter;
    return usage.ru_nivcsw;
}

static int64_t read_faults(const struct counter *counter)
{
    (void)counter;
    return usage.ru_minflt + usage.ru_majflt;
}

static int64_t read_handled(const struct counter *counter)
{
    (void)counter;
    return outcomes->handled;
}

static int64_t read_contended(const struct counter *counter)
{
    (void)counter;
    return outcomes->contended;
}

static int64_t read_rests(const struct counter *counter)
{
    (void)counter;
    return outcomes->rests;
}

// Migrations away from the visit's CPU; a delta other than 0 says that the client moved.
static int64_t read_migrations(const struct counter *counter)
{
    (void)counter;
    return sched_getcpu() != visit_cpu;
}

static const char *skip_words(const char *text, int words)
{
    for (; words > 0 && text != NULL; words--)
        if ((text = strchr(text, ' ')) != NULL)
            text += strspn(text, " ");
    return text;
}

// Field 8 of the CPU's line in /proc/stat, in USER_HZ ticks.
static int64_t read_steal(const struct counter *counter)
{
    static char text[8192]; // the per-CPU lines come first; what follows is not needed
    char label[16];
    ssize_t got = pread(counter->fds[0], text, sizeof text - 1, 0);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    snprintf(label, sizeof label, "\ncpu%d ", counter->cpu);
    const char *line = strstr(text, label);
    const char *field = line != NULL ? skip_words(line, 8) : NULL;
    return field != NULL ? atoll(field) * (1000000000LL / sysconf(_SC_CLK_TCK)) : 0;
}

// The totals of a machine of one CPU: "intr N ..." and "ctxt N" of /proc/stat, for the two counters
// after it.
static int64_t stat_interrupts, stat_switches;

static int64_t read_stat_interrupts(const struct counter *counter)
{
    static char text[16384]; // `intr` goes on with a number per interrupt, and `ctxt` follows
    ssize_t got = pread(counter->fds[0], text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    const char *interrupts = strstr(text, "\nintr "), *switches = strstr(text, "\nctxt ");
    if (interrupts == NULL || switches == NULL)
        circle_fail("reading /proc/stat");
    stat_interrupts = atoll(interrupts + 6);
    stat_switches = atoll(switches + 6);
    return stat_interrupts;
}

static int64_t read_stat_switches(const struct counter *counter)
{
    (void)counter;
    return stat_switches;
}

// The governor's current choice; where the machine tells it, a change within a test shows.
static int64_t read_frequency(const struct counter *counter)
{
    char text[24];
    ssize_t got = pread(counter->fds[0], text, sizeof text - 1, 0);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    return atoll(text);
}

// Peers on another CPU: their lines in /proc, how often those were read, and how often a peer was
// found on a CPU where it does not belong.
static struct {
    int fds[PARTICIPANTS_MAX];
    int count;
    int64_t readings, elsewhere;
} peers;

enum { STATE = 3, LAST_CPU = 39 }; // fields of proc_pid_stat(5), counted from 1
enum { PEER_READINGS_MAX = 4000 }; // some milliseconds

// Reads a peer's line: whether it sleeps; adds to `elsewhere` if it ran on another CPU than its own
// and the caller wants that.
static int peer_sleeps(int fd, int check_cpu)
{
    char text[512];
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    peers.readings++;
    if (got <= 0)
        return 1;
    text[got] = '\0';
    const char *state = strrchr(text, ')'); // a name may hold anything else
    const char *cpu = state != NULL ? skip_words(state, LAST_CPU - STATE + 1) : NULL;
    if (check_cpu && cpu != NULL && atoi(cpu) != peer_cpu)
        peers.elsewhere++;
    return state == NULL || state[2] != 'R';
}

// A thread is seen asleep a moment before its CPU has switched away from it: one more reading takes
// longer than that.
void peers_await(void)
{
    for (int i = 0; i < peers.count; i++) {
        int left = visited->spins ? 0 : PEER_READINGS_MAX;
        while (left > 0 && !peer_sleeps(peers.fds[i], 0))
            left--;
        peer_sleeps(peers.fds[i], 1);
    }
}

static int64_t read_elsewhere(const struct counter *counter)
{
    (void)counter;
    return peers.elsewhere;
}

static int64_t read_entries(const struct counter *counter)
{
    return read_events(counter) - own_entries * readings - peers.readings;
}

static int64_t (*const readers[])(const struct counter *counter) = {
    [EVENTS] = read_events,
    [ENTRIES_EVENTS] = read_entries,
    [SCHEDSTAT] = read_schedstat,
    [VOLUNTARY] = read_voluntary,
    [INVOLUNTARY] = read_involuntary,
    [FAULTS] = read_faults,
    [HANDLED] = read_handled,
    [CONTENDED] = read_contended,
    [RESTS] = read_rests,
    [ELSEWHERE] = read_elsewhere,
    [MIGRATIONS] = read_migrations,
    [STEAL] = read_steal,
    [STAT_INTERRUPTS] = read_stat_interrupts,
    [STAT_SWITCHES] = read_stat_switches,
    [FREQUENCY] = read_frequency,
};

static struct counter *add(const char *name, enum counter_source source)
{
    if (used == CYC_COUNTERS_MAX)
        circle_fail("more counters than CYC_COUNTERS_MAX");
    struct counter *counter = &counters[used];
    *counter = (struct counter){.source = source};
    snprintf(counter->name, sizeof counter->name, "%s", name);
    names[used++] = counter->name;
    names[used] = NULL;
    return counter;
}

static void drop(void)
{
    names[--used] = NULL;
}

static void add_frequency(void)
{
    char path[80];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
             visit_cpu);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        add("khz", FREQUENCY)->fds[0] = fd;
}

static void add_schedstat(const pid_t *threads, int count)
{
    struct counter *switches = add("switches", SCHEDSTAT);
    for (int i = 0; i < count; i++) {
        char path[48];
        snprintf(path, sizeof path, "/proc/%d/schedstat", threads[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            drop(); // kernel without CONFIG_SCHED_INFO: the contract's switches stay unproven
            return;
        }
        switches->fds[switches->count++] = fd;
    }
}

// Counts an event on the whole CPU; NULL where the kernel refuses it to us.
static struct counter *add_cpu_event(const char *name, int cpu, uint32_t type, uint64_t config,
                                     const char *filter)
{
    struct counter *counter = add(name, EVENTS);
    int fd = open_event(type, config, -1, cpu);
    if (fd < 0 || (filter != NULL && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) != 0)) {
        drop();
        return NULL;
    }
    counter->fds[counter->count++] = fd;
    return counter;
}

static int open_interrupt(int which, int cpu)
{
    return interrupt_ids[which]
               ? open_event(PERF_TYPE_TRACEPOINT, (uint64_t)interrupt_ids[which], -1, cpu)
               : -1;
}

static void add_interrupts(void)
{
    struct counter *counter = add("interrupts", EVENTS);
    for (int i = 0; i < TRACE_INTERRUPTS; i++) {
        int fd = open_interrupt(i, visit_cpu);
        if (fd >= 0)
            counter->fds[counter->count++] = fd;
    }
    if (counter->count == 0)
        drop();
}

// Only a guest has its time stolen, and /proc/stat is long on a large machine.
static void add_steal(const char *name, int cpu)
{
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    struct counter *counter = add(name, STEAL);
    counter->fds[0] = fd;
    counter->cpu = cpu;
    if (fd < 0 || access("/sys/hypervisor", F_OK) != 0) {
        char text[4096] = "";
        int info = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
        ssize_t got = info >= 0 ? read(info, text, sizeof text - 1) : 0;
        if (info >= 0)
            close(info);
        if (fd < 0 || got <= 0 || strstr(text, " hypervisor") == NULL)
            drop();
    }
}

static void add_stat(void)
{
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    add("interrupts", STAT_INTERRUPTS)->fds[0] = fd;
    add("cpu_switches", STAT_SWITCHES);
}

static void add_machine(void)
{
    add_steal("steal_ns", visit_cpu);
    add_frequency();
    add_interrupts();
    add_cpu_event("cpu_switches", visit_cpu, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
                  NULL);
}

// What only circles of two CPUs read: the interrupts that the CPUs send each other, which are part
// of `interrupts`, too, and the other CPU's counters.
static void add_ipis(const char *name, int cpu)
{
    struct counter *ipis = add(name, EVENTS);
    for (int i = TRACE_INTERRUPTS - TRACE_IPIS; i < TRACE_INTERRUPTS; i++) {
        int fd = open_interrupt(i, cpu);
        if (fd >= 0)
            ipis->fds[ipis->count++] = fd;
    }
    if (ipis->count == 0)
        drop();
}

static void add_other_interrupts(void)
{
    struct counter *all = add("other_interrupts", EVENTS);
    for (int i = 0; i < TRACE_INTERRUPTS; i++) {
        int fd = open_interrupt(i, peer_cpu);
        if (fd >= 0)
            all->fds[all->count++] = fd;
    }
    if (all->count == 0)
        drop();
}

static void add_other_cpu(void)
{
    int first = used;
    add_steal("other_steal_ns", peer_cpu);
    add_ipis("ipis", visit_cpu);
    add_ipis("other_ipis", peer_cpu);
    add_other_interrupts();
    add_cpu_event("other_cpu_switches", peer_cpu, PERF_TYPE_SOFTWARE,
                  PERF_COUNT_SW_CONTEXT_SWITCHES, NULL);
    while (first < used)
        counters[first++].use = OF_TWO_CPUS;
}

static void add_entries(const pid_t *threads, int count)
{
    struct counter *entries = add("entries", ENTRIES_EVENTS);
    for (int i = 0; i < count; i++) {
        int fd =
            enter_id ? open_event(PERF_TYPE_TRACEPOINT, (uint64_t)enter_id, threads[i], -1) : -1;
        if (fd >= 0)
            entries->fds[entries->count++] = fd;
    }
    if (entries->count != count)
        drop();
}

// Only wake-ups of our own: kernel threads are woken by the way, from the participants' system
// calls.
static struct counter *add_wakeups(const char *counter, int cpu)
{
    char name[16], filter[32];
    prctl(PR_GET_NAME, name); // peers bear the same name
    snprintf(filter, sizeof filter, "comm==\"%s\"", name);
    return add_cpu_event(counter, cpu, PERF_TYPE_TRACEPOINT, (uint64_t)wakeup_id, filter);
}

// A kernel may count the wake-up of a thread on another CPU on either of them: `wakeups` of a
// circle of two CPUs is the sum of both.
static void add_wakeups_of_both(void)
{
    struct counter *mine = &counters[used - 1], *other = add_wakeups("other_wakeups", peer_cpu);
    if (other == NULL)
        return;
    mine->use = OF_ONE_CPU;
    other->use = OF_TWO_CPUS;
    struct counter *both = add("wakeups", EVENTS);
    both->use = OF_TWO_CPUS;
    both->fds[both->count++] = mine->fds[0];
    both->fds[both->count++] = other->fds[0];
}

#define LEAVES_IDLE "state==4294967295" // PWR_EVENT_EXIT

static void add_idle_exits(void)
{
    static const char *const of[] = {"idle_exits", "other_idle_exits"};
    const int cpus[] = {visit_cpu, peer_cpu};
    for (int i = 0; i < 2; i++) {
        struct counter *exits =
            add_cpu_event(of[i], cpus[i], PERF_TYPE_TRACEPOINT, (uint64_t)idle_id, LEAVES_IDLE);
        if (exits != NULL)
            exits->use = OF_TWO_CPUS;
    }
}

#define CACHE_READ_MISSES(cache) \
    ((cache) | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
enum { USER = 1, KERNEL = 2 };

// What the processor counts, where it shows that it does; by importance, because there are fewer
// counters than names.
static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
    int modes;
} hardware[] = {
    {"instructions_user", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, USER},
    {"instructions_kernel", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, KERNEL},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, USER | KERNEL},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, USER | KERNEL},
    {"l1d_misses", PERF_TYPE_HW_CACHE, CACHE_READ_MISSES(PERF_COUNT_HW_CACHE_L1D), USER | KERNEL},
    {"itlb_misses", PERF_TYPE_HW_CACHE, CACHE_READ_MISSES(PERF_COUNT_HW_CACHE_ITLB), USER | KERNEL},
    {"dtlb_misses", PERF_TYPE_HW_CACHE, CACHE_READ_MISSES(PERF_COUNT_HW_CACHE_DTLB), USER | KERNEL},
    {"llc_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, USER | KERNEL},
};

// Pinned: an event that finds no counter free is refused instead of counted now and then.
static void add_hardware(void)
{
    for (size_t i = 0; i < sizeof hardware / sizeof hardware[0]; i++) {
        struct perf_event_attr attr = {.size = sizeof attr,
                                       .type = hardware[i].type,
                                       .config = hardware[i].config,
                                       .pinned = 1,
                                       .exclude_user = !(hardware[i].modes & USER),
                                       .exclude_kernel = !(hardware[i].modes & KERNEL),
                                       .exclude_hv = 1};
        int fd = (int)syscall(SYS_perf_event_open, &attr, -1, visit_cpu, -1, PERF_FLAG_FD_CLOEXEC);
        int64_t value;
        if (fd < 0)
            continue;
        // Counters that another process holds show only when they are read.
        if (read(fd, &value, sizeof value) != (ssize_t)sizeof value) {
            close(fd);
            continue;
        }
        struct counter *counter = add(hardware[i].name, EVENTS);
        counter->fds[counter->count++] = fd;
    }
}

static void add_proof(const struct options *options)
{
    if (!options_exact(options))
        add_hardware();
    if (wakeup_id && add_wakeups("wakeups", visit_cpu) != NULL && peer_cpu >= 0)
        add_wakeups_of_both();
    if (idle_id && peer_cpu >= 0)
        add_idle_exits();
// Only there every switch of address space passes the task-switch flush point, flushed or not.
#if defined(__x86_64__)
    if (tlb_id)
        add_cpu_event("space_switches", visit_cpu, PERF_TYPE_TRACEPOINT, (uint64_t)tlb_id,
                      "reason==0");
#endif
    if (enter_id) // never read: keeps the tracepoint open, so that a visit's own opening is quick
        open_event(PERF_TYPE_TRACEPOINT, (uint64_t)enter_id, 0, -1);
}

void counters_prepare(const struct options *options)
{
    visit_cpu = options->cpu;
    peer_cpu = options->other_cpu;
    proving = options->proof;
    read_ids("/sys/kernel/tracing");
    if (wakeup_id == 0)
        read_ids("/sys/kernel/debug/tracing");
    if (wakeup_id == 0)
        read_ids_from_private_mount();
    if (options_exact(options))
        add_stat();
    else
        add_machine();
    if (peer_cpu >= 0)
        add_other_cpu();
    if (proving)
        add_proof(options);
    if (used > COMMON_MAX)
        circle_fail("more counters than COMMON_MAX");
    memcpy(run->common.counters, counters, (size_t)used * sizeof *counters);
    run->common.count = used;
    run->common.enter_id = enter_id;
}

void counters_join(const struct options *options, const struct linux_circle *circle)
{
    enum counter_use useless = circle->placement == OTHER_CPU ? OF_ONE_CPU : OF_TWO_CPUS;
    visit_cpu = options->cpu;
    peer_cpu = options->other_cpu;
    proving = options->proof;
    visited = circle;
    enter_id = run->common.enter_id;
    used = 0;
    for (int i = 0; i < run->common.count; i++)
        if (run->common.counters[i].use != useless)
            counters[used++] = run->common.counters[i];
    common_used = used;
    for (int i = 0; i < used; i++)
        names[i] = counters[i].name;
}

static void calibrate_entries(void)
{
    int64_t first[CYC_COUNTERS_MAX], second[CYC_COUNTERS_MAX];
    own_entries = 0;
    counters_read(NULL, first);
    counters_read(NULL, second);
    int entries = common_used;
    if (strcmp(names[entries], "entries") == 0)
        own_entries = second[entries] - first[entries];
    readings = 0;
}

static int64_t idle_events[CYC_COUNTERS_MAX]; // of one request that asks for nothing

// The least of some tries: a disturbance only adds events.
void counters_exclude(const struct linux_circle *self)
{
    int64_t before[CYC_COUNTERS_MAX], after[CYC_COUNTERS_MAX];
    int64_t least[CYC_COUNTERS_MAX];
    for (int try = 0; try < TRIES; try++) {
        counters_read(NULL, before);
        self->idle(self);
        counters_read(NULL, after);
        for (int i = 0; i < used; i++) {
            int64_t events = counters_known(names[i]) ? after[i] - before[i] : 0;
            least[i] = try == 0 || events < least[i] ? events : least[i];
        }
    }
    memcpy(idle_events, least, sizeof idle_events);
}

static void add_peers(const pid_t *threads, int count)
{
    for (int i = 0; i < count; i++) {
        char path[48];
        snprintf(path, sizeof path, "/proc/%d/stat", threads[i]);
        peers.fds[peers.count++] = (int)must(open(path, O_RDONLY | O_CLOEXEC), "open of a stat");
    }
    add("elsewhere", ELSEWHERE);
    add("rests", RESTS);
}

void counters_open(const pid_t *threads, int count)
{
    used = common_used;
    names[used] = NULL;
    if (proving)
        add_entries(threads, count);
    // The CPU's switches come first and the participants' last: whoever runs between two of these
    // readings makes the sums differ, and the test is known as disturbed.
    add("voluntary", VOLUNTARY);
    add("involuntary", INVOLUNTARY);
    add("faults", FAULTS);
    add_schedstat(threads, count);
    add("handled", HANDLED);
    add("contended", CONTENDED);
    add("migrations", MIGRATIONS);
    if (visited->placement == OTHER_CPU)
        add_peers(threads + 1, count - 1);
    if (proving)
        calibrate_entries();
}

int counters_known(const char *name)
{
    static const char *const known[] = {
        "entries",    "switches",      "space_switches",     "cpu_switches",
        "interrupts", "wakeups",       "voluntary",          "involuntary",
        "faults",     "handled",       "contended",          "elsewhere",
        "ipis",       "idle_exits",    "other_cpu_switches", "other_interrupts",
        "other_ipis", "other_wakeups", "other_idle_exits",
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i], name) == 0)
            return 1;
    return 0;
}

const char *const *counters_names(void)
{
    return names;
}

static int64_t preemptions(void)
{
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

// A reading within which the thread lost the CPU is not of one moment: it is taken again, for some
// counters would know of that switch and others not.
void counters_read(void *host, int64_t *counts)
{
    int64_t began;
    int tries = TRIES;
    (void)host;
    peers_await();
    do {
        began = preemptions();
        for (int i = 0; i < used; i++)
            counts[i] =
                readers[counters[i].source](&counters[i]) - idle_events[i] * outcomes->requests;
        readings++;
    } while (preemptions() != began && --tries > 0);
}
