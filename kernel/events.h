// SPDX-License-Identifier: BSD-2-Clause
//
// The event log (eventlog=on): calls, switches and interrupts in the order in which they happened, written in
// the words of a contract's `sequence`, so that the two can be compared. Otherwise these are empty and cost nothing.
#ifndef EVENTS_H
#define EVENTS_H

#include <stdint.h>

#include "config.h"

struct thread;
struct cyc_writer;

#if CONFIG_EVENTLOG
// "<role of the running thread>: <what>"
void event_call(const char *what);
// "kernel: <what> <role of thread>"; thread may be NULL.
void event_kernel(const char *what, const struct thread *thread);
// Writes the log of the last turn as an `events` record of the circle `key`.
void events_write(struct cyc_writer *writer, const char *key);
#else
static inline void event_call(const char *what)
{
    (void)what;
}
static inline void event_kernel(const char *what, const struct thread *thread)
{
    (void)what;
    (void)thread;
}
#endif

// Empties the log and lets it run, or stops it.
int64_t events_record(uint64_t on);

#endif
