// SPDX-License-Identifier: BSD-2-Clause
//
// Cycles of the measured core, whoever runs on it, by a perf event. Where a program may read the
// counter itself (x86-64, rdpmc) a reading is not a system call, and costs some ten ns; else
// read(2) serves a clock, and is too dear beside each test.
#ifndef LINUX_CORE_CYCLES_H
#define LINUX_CORE_CYCLES_H

#include <stdint.h>

// Opens the event, once a run: its descriptor, or -1 if the machine has no such counter.
int core_cycles_open(int cpu);
// Makes it readable without a system call in this process, which runs on that CPU. 1 if that works
// and is cheap: some machines emulate the instruction, in thousands of ticks. Not inherited by
// fork.
int core_cycles_map(int event);
// The counter: without a system call if core_cycles_map() returned 1.
uint64_t core_cycles_read(void);

#endif
