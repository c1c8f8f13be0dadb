// SPDX-License-Identifier: BSD-2-Clause
//
// The page that a user-level scheduler shares with the kernel. The scheduler writes which thread
// runs next and how urgent each one is; the kernel reports what happens to them. A thread is named
// by its slot, from 1; 0 means none.
#ifndef SCHEDULER_PAGE_H
#define SCHEDULER_PAGE_H

#include <stdint.h>

#define SCHEDULED_MAX 64 // slots, 0 included
#define SECTIONS_MAX 4

// Flags of an event.
#define EVENT_BRAND_ACTIVE 1ul // the thread has an upcall to run
#define EVENT_BRAND_READY 2ul  // its upcall is done
#define EVENT_BRAND_PEND 4ul   // another one is pending

// What happened to the thread of a slot since the scheduler last read it. Events form a list by
// `next`, from the one that the scheduler read last; 0 ends it. Only the kernel appends, only the
// scheduler removes.
struct scheduler_event {
    uint64_t next;
    uint64_t flags;
    uint64_t used_cyc; // for which the thread ran (accounting=on, and the thread is accounted)
    uint64_t urgency;  // written by the scheduler; smaller is more urgent
};

// A restartable section: code in [start, end) whose last instruction makes the change. If a thread
// is interrupted inside, the kernel moves it back to the start.
struct scheduler_section {
    uint64_t start, end;
};

struct scheduler_page {
    uint64_t next; // slot that scheduler_switch() runs
    uint64_t lock; // the owner's slot in the lower half, a waiter's in the upper half
    struct scheduler_section sections[SECTIONS_MAX];
    struct scheduler_event event[SCHEDULED_MAX];
};

#define LOCK_OWNER(word) ((word) & 0xffffffff)
#define LOCK_WAITER(word) ((word) >> 32)

// How to switch.
enum switch_how {
    SWITCH_PLAIN,
    SWITCH_TAIL,      // ends the caller's upcall; a pending one runs instead
    SWITCH_LOCK_WAIT, // to the lock's owner, to wait for it; does nothing if the owner has
                      // changed
    SWITCH_LOCK_PASS, // frees the lock and runs the waiter
};

#endif
