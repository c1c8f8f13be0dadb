// SPDX-License-Identifier: BSD-2-Clause
//
// The page that a user-level scheduler shares with the kernel. The scheduler says whom to run next and how urgent each
// of its threads is; the kernel reports what happened to them. Threads are named by their slots, from 1; 0 is nobody.
#ifndef SCHEDULER_PAGE_H
#define SCHEDULER_PAGE_H

#include <stdint.h>

#define SCHEDULED_MAX 64 // slots, 0 included
#define SCHEDULER_LEVELS 4
#define SECTIONS_MAX 4

// Flags of an event.
#define EVENT_BRAND_ACTIVE 1ul // the thread has an upcall to run
#define EVENT_BRAND_READY 2ul  // its upcall is done
#define EVENT_BRAND_PEND 4ul   // another one is pending

// What happened to the thread of one slot since the scheduler last looked. The events form a list from the last one
// that the scheduler left, by `next`, which is 0 at its end; only the kernel appends, only the scheduler removes.
struct scheduler_event {
    uint64_t next;
    uint64_t flags;
    uint64_t used_cyc; // cycles for which the thread ran (accounting=on, and the thread is accounted)
    uint64_t urgency;  // the scheduler's to write; smaller is more urgent
};

// Code that must not be interrupted half-way: [start, end), its last instruction makes the change. The kernel moves a
// thread that it interrupts inside back to the start.
struct scheduler_section {
    uint64_t start, end;
};

struct scheduler_page {
    uint64_t next; // slot to be run by scheduler_switch()
    uint64_t lock; // owner's slot in the lower half, that of one who waits for it in the upper half
    struct scheduler_section sections[SECTIONS_MAX];
    struct scheduler_event event[SCHEDULED_MAX];
};

#define LOCK_OWNER(word) ((word) & 0xffffffff)
#define LOCK_WAITER(word) ((word) >> 32)

// How to switch.
enum switch_how {
    SWITCH_PLAIN,
    SWITCH_TAIL,      // the caller's upcall is done with it; a pending one is executed instead
    SWITCH_LOCK_WAIT, // to the lock's owner, as one who waits; does nothing where that is not the owner any more
    SWITCH_LOCK_PASS, // frees the lock and runs who waited for it
};

#endif
