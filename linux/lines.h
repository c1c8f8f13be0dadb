// SPDX-License-Identifier: BSD-2-Clause
//
// Standard output in whole lines, so that a kill between two of them loses only what was not
// measured. Supervisor and visits share it.
#ifndef LINUX_LINES_H
#define LINUX_LINES_H

#include <stddef.h>

// What is not yet written; part of struct run.
struct lines {
    int held; // nothing is written before a flush
    size_t length;
    char bytes[1 << 17]; // small: every visit locks it in memory
};

// Appends bytes; a cyc_writer's `put`.
void lines_put(void *context, const char *bytes, size_t length);
// Writes what is there.
void lines_flush(void);

#endif
