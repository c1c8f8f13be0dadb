// SPDX-License-Identifier: BSD-2-Clause
//
// What the processes of a run share: the supervisor, which reads the plan, and one process for each
// visit. A visit executes the harness anew, so that each draws a layout of its own, and finds here
// what the supervisor has prepared. Nothing in it is a pointer that another process would follow.
#ifndef LINUX_RUN_H
#define LINUX_RUN_H

#include <stdint.h>

#include <cyc/record.h>

#include "counters.h"
#include "lines.h"
#include "linux_circle.h"

#define SYSV_MAX 8

// A line of the plan: how long a circle is to be measured.
struct visit {
    uint32_t number;
    char key[96];
    char method[16]; // "accumulated", "direct", "passes" or "proof"
    struct cyc_flow flow;
};

struct run {
    struct cyc_writer writer; // by run_writer() only
    struct lines lines;
    struct outcomes outcomes;
    struct visit visit; // the one to be made
    int concluded;      // it made all its tests, or said why not
    struct common_counters common;
    char name[16];               // of every process of this run, as the kernel knows it
    uint64_t origin;             // clock that `at` counts from
    uint64_t origin_ns;          // CLOCK_MONOTONIC_RAW at that moment
    uint64_t hz;                 // of the clock; 0 if unknown
    int cycles_file, evict_file; // -1 if there is none
    uint32_t answering;          // bit n: program n of the user's answers requests
    struct {
        char kind;
        int id;
    } sysv[SYSV_MAX]; // objects to remove when the visit ends
    int sysv_count;
};
extern struct run *run;

// Makes the memory; in the supervisor, first of all.
void run_prepare(void);
// Finds it in a visit's process, by the descriptor that `run_execute_visit` passed on.
void run_join(int descriptor);
// Executes the harness with the run's own options and `--visit DESCRIPTOR`, in the calling process.
// All open descriptors go with it. Does not return.
_Noreturn void run_execute_visit(char **arguments);
// The stream's writer and its position, which the processes share.
struct cyc_writer *run_writer(void);

#endif
