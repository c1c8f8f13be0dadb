// SPDX-License-Identifier: BSD-2-Clause
//
// Components, as Composite's: a program that other programs' threads enter. An invocation moves the calling thread into
// the component and back; no server thread, no queue, no scheduler takes part. An upcall is the other direction: the
// kernel starts a thread at the component's one upcall entry; nobody needs to wait for it there.
#ifndef COMPONENT_H
#define COMPONENT_H

#include <stdint.h>

#include "config.h"
#include "object.h"
#include "upcall.h"

#define INVOCATIONS_MAX 31

struct space;
struct thread;

struct component {
    struct object object;
    struct space *space;   // its protection domain; NULL until it is opened
    uint64_t entry;        // of invocations: entry(a, b, c, d) in a0-a3
    uint64_t upcall_entry; // upcall_entry(enum upcall, a, b, c)
};

// Where a thread was before an invocation.
struct invocation {
    struct component *component;
    struct space *space;
    uint64_t pc, sp;
};

// A thread's way through components, part of struct thread.
struct migration {
    struct component *component; // in which it executes; NULL in a program that is none
    struct space *home;          // in which it was created
    uint64_t stack_top;          // of its user stack, in every space
    uint64_t depth;              // used of `stack`
    struct invocation stack[INVOCATIONS_MAX];
    struct thread *interrupted; // runs on when this thread's upcall is done; the two links are one
    struct thread *interrupter; // the upcall that stands between this thread and its running on
};

void component_init(struct component *component, uint64_t a, uint64_t b);

#if CONFIG_USERSPACE
// The running program becomes the component.
int64_t component_open(struct component *component, uint64_t entry, uint64_t upcall_entry);

// System calls. A capability is a handle to a component: who has none cannot enter.
int64_t sys_component_invoke(uint64_t capability); // its other arguments are in the frame: trap.S
// Back to where the invocation came from, with the value; with an empty stack the end of an upcall.
int64_t sys_component_return(uint64_t value);
// Runs a dormant thread at the component's upcall entry at once; the caller runs on when that returns.
int64_t sys_component_upcall(uint64_t component, uint64_t thread, uint64_t argument);

// For brand.c and scheduler.c; interrupts are off.

// Makes a thread that is not running begin at the upcall entry when it runs next, whatever it was about.
void upcall_prepare(struct thread *t, struct component *component, enum upcall type, uint64_t a, uint64_t b,
                    uint64_t c);
// The same for the running thread, which begins at once.
_Noreturn void upcall_begin(struct component *component, enum upcall type, uint64_t a);
// Switches to `upcall`, which returns to the running thread; 0 when that runs again.
int64_t upcall_interrupt(struct thread *upcall);

// For trap.c: a thread's stack in a space to which it came by invocation is made when it is first touched.
int component_stack_fault(uint64_t address);
// For thread_abort(): whom the thread interrupted runs on; the thread is at home again.
void component_abandon(struct thread *t);
#else
static inline int component_stack_fault(uint64_t address)
{
    (void)address;
    return 0;
}
static inline void component_abandon(struct thread *t)
{
    (void)t;
}
#endif

#endif
