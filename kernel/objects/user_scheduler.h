// SPDX-License-Identifier: BSD-2-Clause
//
// Scheduling by user programs, as Composite's. Of all threads of a user-level scheduler, the
// kernel's scheduler sees one at a time; the others are parked until the user-level scheduler
// switches to them. A thread may have schedulers at several levels.
#ifndef USER_SCHEDULER_H
#define USER_SCHEDULER_H

#include <stdint.h>

#include "config.h"
#include "object.h"
#include "scheduler_page.h"

struct component;
struct frame;
struct thread;

struct user_scheduler {
    struct object object;
    struct scheduler_page *page; // NULL until mapped
    uint64_t level;              // 0: the root
    uint64_t tail;               // slot of the newest event
    struct component *component; // gets BRAND_COMPLETE and BRAND_NOTIFY
    struct thread *notifier;     // on which it gets BRAND_NOTIFY
    struct thread *threads[SCHEDULED_MAX];
};

void user_scheduler_init(struct user_scheduler *s, uint64_t level, uint64_t b);

#if CONFIG_USERSPACE
extern struct lock user_schedulers_lock; // smp=fine: one for all, and for brands

// Maps the scheduler's page at USER_SCHEDULERS + level * PAGE_BYTES in the running program.
int64_t scheduler_map(struct user_scheduler *s);
// The running thread takes a slot, and becomes the scheduler's running one.
int64_t scheduler_join(struct user_scheduler *s, uint64_t slot);
// Runs the thread of slot page->next in place of the caller.
int64_t scheduler_switch(struct user_scheduler *s, enum switch_how how);
// Whether switches to and from the thread of a slot are accounted (accounting=on).
int64_t scheduler_account(struct user_scheduler *s, uint64_t slot, uint64_t on);

// System calls.
// Gives a dormant thread a slot. It is parked, or stays dormant if a brand has it.
int64_t sys_scheduler_adopt(uint64_t scheduler, uint64_t thread, uint64_t slot);
// Sends the scheduler's upcalls to the component, which must be open; BRAND_NOTIFY runs on the
// thread `notifier`, which becomes dormant.
int64_t sys_scheduler_attend(uint64_t scheduler, uint64_t component, uint64_t notifier);

// For brand.c; interrupts are off.

// The deepest scheduler that both threads have in common, from the root down; NULL if there is
// none.
struct user_scheduler *user_scheduler_common(const struct thread *a, const struct thread *b);
// Sets a flag in the thread's event, at each of its schedulers.
void user_scheduler_post(const struct thread *t, uint64_t flag);
uint64_t user_scheduler_urgency(const struct user_scheduler *s, const struct thread *t);
#endif

#endif
