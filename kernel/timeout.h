// SPDX-License-Identifier: BSD-2-Clause
//
// Time, and the queue of threads that wait for one.
#ifndef TIMEOUT_H
#define TIMEOUT_H

#include <stdint.h>

#include "board.h"
#include "config.h"
#include "counters.h"

struct thread;

// mtime, in ticks of the board's timebase.
static inline uint64_t time_ticks(void)
{
    count(time_reads);
#if CONFIG_MTIME
    return *(volatile uint64_t *)(DEVICE_OFFSET + CLINT_BASE + CLINT_MTIME);
#else
    uint64_t value;
    __asm__ volatile("rdtime %0" : "=r"(value)::"memory");
    return value;
#endif
}

void timeouts_start(void);
// Wakes `t` with ERROR_TIMEOUT after `ticks`, unless stopped before. Interrupts must be off.
void timeout_start(struct thread *t, uint64_t ticks);
void timeout_stop(struct thread *t);
// Makes sure of a timer interrupt at that time, or before it: an interrupt that comes too early programs the next one.
void timeout_not_later_than(uint64_t at_ticks);
// The timer interrupt: wakes all whose time has come.
void timeouts_expire(void);

#endif
