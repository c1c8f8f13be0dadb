// SPDX-License-Identifier: BSD-2-Clause
//
// Times turns and prints the records of FORMAT.md, without the core: for a RISC-V kernel that is
// to take as little of ours as can be. It has no counters, so nothing proves what was timed.
#ifndef RECORDS_H
#define RECORDS_H

#include <stdint.h>

// Yours: prints a byte on the first serial line.
void record_put(char byte);

// First, once: the name of the target, and the kernel with its version.
void record_hello(const char *target, const char *kernel);
// Times a circle, whose loop `run` makes `turns` turns, and prints its tests.
void record_circle(const char *key, const char *title, void (*run)(void *arg, uint64_t turns),
                   void *arg);
// Last, once: the laboratory knows by it that the image is done.
void record_end(void);

#endif
