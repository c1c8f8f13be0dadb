// SPDX-License-Identifier: BSD-2-Clause
//
// A user-level scheduler: fixed urgencies, first come first served among equals. It lives in the
// program that mapped the scheduler's page; its threads run in it or invoke it.
#ifndef FIXED_PRIORITY_H
#define FIXED_PRIORITY_H

#include <stdint.h>

#include "component.h"

#define URGENCIES 16 // 0..15, a smaller number is more urgent

// Maps the page of the scheduler of this level and prepares empty run queues. 0, or an enum error.
int64_t fixed_priority_start(struct user_scheduler *scheduler, uint64_t level);
// Says how urgent the thread of a slot is, and puts it at the end of its run queue where it is
// runnable.
void fixed_priority_add(uint64_t slot, uint64_t urgency, int runnable);
// The thread of slot `self` lets its equals go first.
void fixed_priority_yield(uint64_t self);
// The thread of slot `self` leaves the run queue, and the processor until another one puts it back.
void fixed_priority_block(uint64_t self);
// Puts it back; does not switch.
void fixed_priority_wake(uint64_t self, uint64_t slot);
// The component's upcall handler, of BRAND_COMPLETE and BRAND_NOTIFY: runs the most urgent thread.
// Does not return.
uint64_t fixed_priority_upcall(uint64_t type, uint64_t self);
// Cycles that the thread of a slot has been charged with so far (accounting=on).
uint64_t fixed_priority_used_cyc(uint64_t slot);

// The lock around all of it, for tests.
void fixed_priority_lock(uint64_t self);
void fixed_priority_unlock(void);

#endif
