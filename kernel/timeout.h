// SPDX-License-Identifier: BSD-2-Clause
//
// Time, and the queue of threads that wait for one.
#ifndef TIMEOUT_H
#define TIMEOUT_H

#include <stdint.h>

#include "board.h"
#include "config.h"
#include "counters.h"
#include "hart.h"
#include "memlayout.h"

struct thread;

// mtime, in ticks of the board's timebase.
static inline uint64_t time_ticks(void)
{
    COUNT(time_reads);
#if CONFIG_MTIME
    return *(volatile uint64_t *)(DEVICE_OFFSET + CLINT_BASE + CLINT_MTIME);
#else
    uint64_t value;
    __asm__ volatile("rdtime %0" : "=r"(value)::"memory");
    return value;
#endif
}

void timeouts_start(void);
// Wakes `t` with ERROR_TIMEOUT after `ticks`, unless it is stopped before. Interrupts must be off.
void timeout_start(struct thread *t, uint64_t ticks);
void timeout_stop(struct thread *t);
// Makes sure that a timer interrupt comes then, or earlier: one that is too early programs the
// next.
void timeout_not_later_than(uint64_t at_ticks);
// On the timer interrupt: wakes all threads whose time has come.
void timeouts_expire(void);

#endif
