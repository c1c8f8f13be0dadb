// SPDX-License-Identifier: BSD-2-Clause
//
// The event log (eventlog=on): calls, switches and interrupts in their order, in the words of a
// contract's `sequence`, so that the two can be compared. With eventlog=off these are empty and
// cost nothing.
#ifndef EVENTLOG_H
#define EVENTLOG_H

#include <stdint.h>

#include "config.h"

struct thread;
struct cyc_writer;

#if CONFIG_EVENTLOG
// "<name of the running thread>: <what>"
void eventlog_call(const char *what);
// "kernel: <what> <name of thread>"; thread may be NULL.
void eventlog_kernel(const char *what, const struct thread *thread);
// Writes the log of the last turn as an `events` record of the circle `key`.
void eventlog_write(struct cyc_writer *writer, const char *key);
#else
static inline void eventlog_call(const char *what)
{
    (void)what;
}
static inline void eventlog_kernel(const char *what, const struct thread *thread)
{
    (void)what;
    (void)thread;
}
#endif

// Empties the log and starts it, or stops it.
int64_t eventlog_record(uint64_t on);

#endif
