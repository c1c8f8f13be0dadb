// SPDX-License-Identifier: BSD-2-Clause
//
// Components, as Composite's: programs that threads of other programs enter. An invocation moves
// the calling thread into the component and back, without a server thread, a queue or the
// scheduler. An upcall goes the other way: the kernel starts a thread at the component's upcall
// entry.
#ifndef COMPONENT_H
#define COMPONENT_H

#include <stdint.h>

#include "config.h"
#include "object.h"
#include "thread.h"
#include "upcall.h"

struct space;

struct component {
    struct object object;
    struct space *space;   // in which it runs; NULL until it is opened
    uint64_t entry;        // of invocations: entry(a, b, c, d) in a0-a3
    uint64_t upcall_entry; // upcall_entry(enum upcall, a, b, c)
};

void component_init(struct component *component, uint64_t a, uint64_t b);

#if CONFIG_USERSPACE
// The running program becomes the component.
int64_t component_open(struct component *component, uint64_t entry, uint64_t upcall_entry);

// System calls. A capability is a handle to a component.
int64_t sys_component_invoke(uint64_t capability); // its other arguments are in the frame: trap.S
// Returns the value from the newest invocation; ends the upcall if there is none.
int64_t sys_component_return(uint64_t value);
// Runs a dormant thread at the component's upcall entry; the caller runs on when the upcall ends.
int64_t sys_component_upcall(uint64_t component, uint64_t thread, uint64_t argument);

// For brand.c and user_scheduler.c; interrupts are off.

// Makes a thread that is not running begin at the upcall entry when it runs next.
void upcall_prepare(struct thread *t, struct component *component, enum upcall type, uint64_t a,
                    uint64_t b, uint64_t c);
// The same for the running thread, which begins at once.
_Noreturn void upcall_begin(struct component *component, enum upcall type, uint64_t a);
// Unlinks an upcall's thread from the one that it interrupted, which its end does not resume then.
static inline void unlink_upcall(struct thread *upcall)
{
    upcall->migration.interrupted->migration.interrupter = NULL;
    upcall->migration.interrupted = NULL;
}
// Switches to `upcall`, whose end resumes the running thread; returns 0 then.
int64_t upcall_interrupt(struct thread *upcall);
#endif

#endif
