// SPDX-License-Identifier: BSD-2-Clause
//
// Scheduling by user programs, as Composite's. The kernel's own scheduler sees one thread at a time of all those that a
// user-level scheduler has; the others are parked, and run when it switches to them. A thread may have schedulers at
// several levels, the root's at 0.
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <stdint.h>

#include "config.h"
#include "object.h"
#include "scheduler_page.h"

struct component;
struct frame;
struct thread;

struct scheduler {
    struct object object;
    struct scheduler_page *page; // NULL until mapped
    uint64_t level;
    uint64_t tail; // slot of the newest event
    struct component *component; // gets BRAND_COMPLETE and BRAND_NOTIFY
    struct thread *notifier;     // on which it gets BRAND_NOTIFY
    struct thread *threads[SCHEDULED_MAX];
};

// A thread's place in one scheduler, part of struct thread.
struct place {
    struct scheduler *scheduler;
    uint64_t slot;
};

void scheduler_init(struct scheduler *s, uint64_t level, uint64_t b);

#if CONFIG_USERSPACE
// Maps the scheduler's page at USER_SCHEDULERS + level * PAGE_BYTES in the running program.
int64_t scheduler_map(struct scheduler *s);
// The running thread takes a slot, and becomes the scheduler's running one.
int64_t scheduler_join(struct scheduler *s, uint64_t slot);
// Runs the thread of slot page->next in place of the caller.
int64_t scheduler_switch(struct scheduler *s, enum switch_how how);
// Whether switches to and from the thread of a slot are accounted (accounting=on).
int64_t scheduler_account(struct scheduler *s, uint64_t slot, uint64_t on);

// System calls.
// A dormant thread takes a slot; it is parked, or stays dormant where a brand has it.
int64_t sys_scheduler_adopt(uint64_t scheduler, uint64_t thread, uint64_t slot);
// The component, which is open, gets the scheduler's upcalls; those that ask it to decide on the dormant thread.
int64_t sys_scheduler_attend(uint64_t scheduler, uint64_t component, uint64_t notifier);

// For brand.c; interrupts are off.

// The scheduler of the deepest level at which both threads have the same one, from the root down; NULL where none.
struct scheduler *scheduler_common(const struct thread *a, const struct thread *b);
// Sets a flag in the thread's event with each of its schedulers.
void scheduler_post(const struct thread *t, uint64_t flag);
uint64_t scheduler_urgency(const struct scheduler *s, const struct thread *t);

// For trap.c, at an interrupt of a user program.
void scheduler_roll_back(struct frame *frame);

#else
static inline void scheduler_roll_back(struct frame *frame)
{
    (void)frame;
}
#endif

#endif
