// SPDX-License-Identifier: BSD-2-Clause
//
// Control of the machine a run takes place on: CPU, priority, memory, clock.
#ifndef LINUX_HOST_H
#define LINUX_HOST_H

#include <stddef.h>

#include <cyc/flow.h>

// For struct options' other_cpu, besides a CPU's number.
enum { ONE_CPU = -1, NO_OTHER_CPU = -2 };

struct options {
    int cpu; // the client's CPU, and that of all participants unless a circle says otherwise
    // That of the peers of a circle of two CPUs. ONE_CPU: there are no such circles; NO_OTHER_CPU:
    // they are listed, and skipped.
    int other_cpu;
    const char *apart; // how far the two CPUs are apart, in a word; NULL: not said
    int run;           // number of this run within the measurement
    int watchdog_s;    // a visit longer than this is ended
    int proof;         // the expensive counters are open: what is timed is not worth keeping
    int symbols;       // the kernel's functions are printed before the plan
    const char *clock; // "native", "referenced", "cycles", "icount" or "moved"
    uint64_t hz;       // of the native clock as an earlier start found it; 0: find it
    // "auto", "fifo", "other" or "batch"; not "auto" any more once it is chosen; "any" lists only
    const char *policy;
    const char *nice;    // of every participant, in digits; NULL: as it was inherited
    const char *slice;   // ns that a participant asks to run for at a time, in digits; or NULL
    int64_t break_on_ns; // a test above this stops the trace
    const char *tracing; // folder of the tracefs to stop it in; NULL: no trace is stopped
    const char *exec;    // file that describes programs of the user's, or NULL
    int visit;           // descriptor of the run's memory: this process makes a visit; else -1
};

// Whether the run's clock is exact: the run is alone on its machine, and repeats to the digit.
int options_exact(const struct options *options);
// Whether the machine is an emulator's until the first test and a simulated core from there on. A
// proof is never moved: its counters are what is asked for.
int options_moved(const struct options *options);

// Each prepares the calling process and returns NULL, or a sentence that says what is missing.
const char *host_choose_clock(struct cyc_clock *clock, const struct options *options);
// The same clock in a visit's process.
void host_join_clock(struct cyc_clock *clock, const struct options *options);
// CLOCK_MONOTONIC_RAW.
int64_t host_raw_ns(void);
// Whether the speed of the core is read beside each test.
int host_referenced(const struct options *options);
// Has the rig do that, in a visit's process; a clock of cycles becomes cheap to read there if it
// can.
void host_refer(struct cyc_rig *rig, const struct options *options);
const char *host_pin(int cpu);

// Chooses the policy if it is "auto": SCHED_FIFO if the kernel allows it. An ordinary one, with its
// nice value and slice, is set for this process at once, and is inherited by all that it starts.
const char *host_choose_policy(struct options *options);
// The same choice in a visit's process, which has the policy already.
void host_join_policy(struct options *options);
// Whether the ordinary scheduler decides who runs: priorities do not exist then.
int options_fair(const struct options *options);
// SCHED_FIFO at `priority` for the calling thread, unless the policy is an ordinary one.
void host_schedule(const struct options *options, int priority);
// Locks memory and touches `stack_bytes` of stack so that no test meets a first fault. 0 or -1.
int host_lock_memory(size_t stack_bytes);
// What is mapped from here on is not locked.
void host_unlock_future_memory(void);
// Keeps the supervising process off the measured CPUs where there are others. It is never a
// real-time process: one that reaps a child while a preempted thread holds what the kernel needs
// would spin for ever.
void host_supervise(const struct options *options);
// Sleeps until the kernel has done what a real-time thread kept it from: a thread that waits for
// the CPU makes every switch of the participants a little longer.
void host_rest(void *host);
// Makes the buffer that host_evict walks; once a run.
void host_prepare_evict(void);
// Reads a buffer larger than the last-level cache and the TLB's reach.
void host_evict(void *host);
// Writes the run's `hello`.
void host_hello(struct cyc_writer *w, const struct cyc_clock *clock, const struct options *options);

#endif
