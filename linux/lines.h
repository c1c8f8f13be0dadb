// SPDX-License-Identifier: BSD-2-Clause
//
// Standard output in whole lines, so that a kill between two of them loses only what was not
// measured. Supervisor and visits share it.
#ifndef LINUX_LINES_H
#define LINUX_LINES_H

#include <stddef.h>

// Makes the buffer; once a run, before any visit. If `hold`, nothing is written before a flush.
void lines_prepare(int hold);
// Appends bytes; a cyc_writer's `put`.
void lines_put(void *context, const char *bytes, size_t length);
// Writes what is there.
void lines_flush(void);

#endif
