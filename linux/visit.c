// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "visit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "break_on.h"
#include "clock_offset.h"
#include "core_cycles.h"
#include "counters.h"
#include "init.h"
#include "lines.h"
#include "registry.h"
#include "run.h"
#include "surroundings.h"

#define TESTS_MAX 1024
#define SKIPPED 77
#define STACK_BYTES (128 << 10)

static const struct registered_circle *current;
static const struct cyc_clock *run_clock;
static const struct options *run_options;
static pid_t participants[PARTICIPANTS_MAX];
static int participant_count;

void *shared_alloc(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        circle_fail("mmap");
    return memory;
}

int cpu_of(enum placement placement)
{
    return placement == OTHER_CPU ? run_options->other_cpu : run_options->cpu;
}

uint64_t clock_begin(void)
{
    return run_clock->begin();
}

uint64_t clock_end(void)
{
    return run_clock->end();
}

uint64_t clock_hz(void)
{
    return run_clock->hz;
}

void circle_skip(const char *reason)
{
    cyc_record_skipped(run_writer(), run->visit.key, reason);
    run->concluded = 1;
    _exit(SKIPPED);
}

void circle_fail(const char *call)
{
    char reason[160];
    snprintf(reason, sizeof reason, "%s failed: %s", call, strerror(errno));
    if (run == NULL || run->visit.key[0] == '\0') {
        fprintf(stderr, "cyclometer-linux: %s\n", reason);
        exit(5);
    }
    cyc_record_failed(run_writer(), run->visit.key, reason);
    run->concluded = 1;
    _exit(SKIPPED);
}

void circle_unlock_future_memory(void)
{
    host_unlock_future_memory();
}

void circle_remove_sysv(char kind, int id)
{
    if (run->sysv_count == SYSV_MAX)
        circle_fail("more System V objects than a visit may have");
    run->sysv[run->sysv_count].kind = kind;
    run->sysv[run->sysv_count++].id = id;
}

static void remove_sysv(void)
{
    for (int i = 0; i < run->sysv_count; i++) {
        if (run->sysv[i].kind == 'm')
            msgctl(run->sysv[i].id, IPC_RMID, NULL);
        else
            semctl(run->sysv[i].id, 0, IPC_RMID);
    }
    run->sysv_count = 0;
}

// A peer on its way to its body.
struct peer {
    const struct linux_circle *self;
    void (*body)(const struct linux_circle *self);
    int priority;
    pid_t *thread; // where it says who it is, once it has its priority
};

static void run_peer(const struct peer *peer)
{
    struct peer mine = *peer;
    if (mine.self->placement == OTHER_CPU && host_pin(run_options->other_cpu) != NULL)
        circle_fail("sched_setaffinity to the other CPU");
    if (mine.priority > 0)
        host_schedule(run_options, mine.priority);
    __atomic_store_n(mine.thread, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    mine.body(mine.self);
    _exit(1); // a body that returns has lost its peer; the watchdog's report says so
}

static void *run_peer_thread(void *arg)
{
    run_peer(arg);
    return NULL;
}

static void start_thread(const struct peer *peer)
{
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    errno = pthread_create(&thread, &attr, run_peer_thread, (void *)(uintptr_t)peer);
    if (errno != 0)
        circle_fail("pthread_create");
}

static void start_process(const struct peer *peer)
{
    if (must(fork(), "fork") != 0) {
        // writes now every page that the fork would make copy in a test
        host_lock_memory(STACK_BYTES);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    host_lock_memory(STACK_BYTES / 2);
    if (run->cycles_file >= 0)
        core_cycles_map(run->cycles_file); // the peer may read the clock, too
    run_peer(peer);
}

pid_t peer_start_at(const struct linux_circle *self, enum space space, int priority,
                    void (*body)(const struct linux_circle *self))
{
    pid_t *thread = shared_alloc(sizeof *thread);
    struct peer peer = {self, body, priority, thread};
    if (participant_count == PARTICIPANTS_MAX)
        circle_fail("more participants than PARTICIPANTS_MAX");
    (space == SAME_SPACE ? start_thread : start_process)(&peer);
    pid_t id;
    while ((id = __atomic_load_n(thread, __ATOMIC_ACQUIRE)) == 0)
        usleep(100); // not a yield: the peer may be of lower priority than we are
    participants[participant_count++] = id;
    return id;
}

pid_t peer_start(const struct linux_circle *self, void (*body)(const struct linux_circle *self))
{
    return peer_start_at(self, self->space, self->server, body);
}

static int run_flow(struct cyc_rig *rig, const struct cyc_circle *circle)
{
    const struct visit *v = &run->visit;
    if (strcmp(v->method, "proof") == 0)
        return cyc_flow_proof(rig, circle, &v->flow, v->number);
    if (strcmp(v->method, "direct") == 0)
        return cyc_flow_direct(rig, circle, v->flow.tests, v->number);
    if (strcmp(v->method, "passes") == 0)
        return cyc_flow_passes(rig, circle, v->flow.tests, v->number);
    return cyc_flow_accumulated(rig, circle, &v->flow, v->number);
}

// As many samples as this visit needs, resident and written, for a first write is a fault where the
// hardware does not set dirty bits. Shared, although nobody shares them: a private mapping would
// become one with a circle's beside it, and mprotect() would have to divide that; and a peer's fork
// would have it copied at the next write.
static struct cyc_sample *map_samples(void)
{
    size_t tests = run->visit.flow.tests < TESTS_MAX ? run->visit.flow.tests : TESTS_MAX;
    size_t bytes = (tests + 1) * sizeof(struct cyc_sample);
    return memset(shared_alloc(bytes), 0, bytes);
}

static void measure(void)
{
    const struct linux_circle *self = current->circle;
    struct cyc_contract contract = registry_contract(current);
    struct cyc_circle circle = {&contract, self->turns, self->pass, (void *)(uintptr_t)self};
    struct cyc_rig rig = {
        .clock = *run_clock,
        .origin = run->origin,
        .rest = options_exact(run_options) && !options_moved(run_options) ? host_rest : NULL,
        .evict = options_exact(run_options) ? NULL : host_evict, // no cache, nothing to empty
        .count = counters_read,
        .writer = run_writer(),
        .samples_max = TESTS_MAX};
    participants[participant_count++] = (pid_t)syscall(SYS_gettid);
    host_refer(&rig, run_options);
    if (self->setup != NULL)
        self->setup(self);
    rig.samples = map_samples();
    counters_open(participants, participant_count);
    if (self->idle != NULL)
        counters_exclude(self);
    rig.counters = counters_names();
    break_on_watch(&rig, &circle, run_options);
    if (options_moved(run_options)) {
        host_rest(NULL); // the last one that costs nothing
        CYC_HINT_MOVE();
    }
    // An exact clock and a proof have no surroundings that would matter.
    int beside = !options_exact(run_options) && !run_options->proof;
    if (beside)
        surroundings_begin(self, run_options);
    if (run_flow(&rig, &circle) != 0)
        circle_skip("the plan asks for more tests in a group than the harness can hold");
    if (beside)
        surroundings_end(self, run_options, &contract);
}

// On a simulated core every instruction takes microseconds, and the end of a process with locked
// memory a million of them: the only visit of a moved run prints and ends the machine by itself.
static void end_moved_run(void)
{
    cyc_record_end(run_writer());
    lines_flush();
    init_end_machine();
}

// The circle's priority from here on: a busy machine gives an ordinary process a CPU late.
//
// The kernel itself is a visit's watchdog: SIGALRM ends a hung circle from the timer interrupt, and
// the real-time limit a FIFO loop, even where no other thread gets to run.
static void begin_process(const struct options *options)
{
    struct rlimit bound = {(rlim_t)options->watchdog_s * 1000000,
                           (rlim_t)options->watchdog_s * 1000000 + 1};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_RTTIME, &bound);
    alarm((unsigned)options->watchdog_s);
    host_schedule(options, registry_find(run->visit.key)->circle->client);
    if (host_pin(options->cpu) != NULL)
        circle_fail("sched_setaffinity");
}

void visit_make(const struct cyc_clock *clock, const struct options *options)
{
    current = registry_find(run->visit.key);
    run_clock = clock;
    run_options = options;
    memset(&run->outcomes, 0, sizeof run->outcomes);
    if (current->circle->placement == OTHER_CPU && options->other_cpu == NO_OTHER_CPU)
        circle_skip("this process may not use a second CPU of the kind that --cpus names");
    if (clock_offset_matters(current->circle) && clock_hz() == 0)
        circle_skip("two CPUs have no count of cycles in common; measure what goes one way between "
                    "them with --clock referenced");
    host_lock_memory(STACK_BYTES);
    measure();
    if (options_moved(options))
        end_moved_run();
    run->concluded = 1;
    _exit(0); // exit() would move a plan that is a file back to where this process began to read
}

#define GRACE_S 2 // the supervisor steps in when the visit's own watchdog should have

// Waits for the visit's end; returns waitpid's status.
static int await(pid_t child, const struct options *options)
{
    struct timespec limit = {.tv_sec = options->watchdog_s + GRACE_S};
    sigset_t set;
    int status;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (sigtimedwait(&set, NULL, &limit) < 0 && errno == EAGAIN) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            break;
        }
    }
    return status;
}

static int is_watchdog(int signal_number)
{
    return signal_number == SIGALRM || signal_number == SIGXCPU || signal_number == SIGKILL;
}

static void report(int status, const struct options *options)
{
    char reason[96];
    if (WIFSIGNALED(status) && is_watchdog(WTERMSIG(status)))
        snprintf(reason, sizeof reason, "did not finish within %d s and was ended",
                 options->watchdog_s);
    else if (WIFSIGNALED(status))
        snprintf(reason, sizeof reason, "its process died of signal %d", WTERMSIG(status));
    else if (!run->concluded) // whatever its status: a circle's code may end it, too
        snprintf(reason, sizeof reason, "its process ended with status %d before its tests did",
                 WEXITSTATUS(status));
    else
        return;
    cyc_record_failed(run_writer(), run->visit.key, reason);
}

void visit_run(char **arguments, const struct options *options)
{
    sigset_t set;
    run->concluded = 0;
    // blocked, so that an end before sigtimedwait() waits for it
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t child = (pid_t)must(fork(), "fork");
    if (child == 0) {
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        begin_process(options);
        run_execute_visit(arguments);
    }
    setpgid(child, child); // as the child does: whoever is first, kill() finds the group
    int status = await(child, options);
    kill(-child, SIGKILL); // peers that are processes
    while (waitpid(-child, NULL, 0) > 0)
        ;
    remove_sysv();
    report(status, options);
}
