// SPDX-License-Identifier: BSD-2-Clause
//
// Brands, as Composite's: a right to interrupt. Whoever raises one, a program or an interrupt, has the kernel run an
// upcall in the component that made the brand, on the thread that was given to it. The upcall runs at once where that
// thread is more urgent, in the eyes of the scheduler that both have in common, than the running one; otherwise later.
// A brand raised while its upcall runs is counted, not queued: its arguments are lost.
#ifndef BRAND_H
#define BRAND_H

#include <stdint.h>

#include "config.h"
#include "object.h"

struct component;
struct thread;

struct brand {
    struct object object;
    struct component *component; // in which its upcalls run
    struct thread *upcall;       // which runs them; dormant between them
    uint64_t pending;            // raised and not yet executed
    uint64_t mediated;           // its scheduler is asked what to run, at every raise
};

void brand_init(struct brand *brand, uint64_t mediated, uint64_t pending);

#if CONFIG_USERSPACE
int64_t brand_upcall(struct brand *brand, uint64_t a, uint64_t b);
// An interrupt handler (trap.h): raises the brand without arguments.
void brand_interrupt(void *brand);

// System call. Records the context in which upcalls run: the component in which the caller was `depth` invocations
// ago. The thread is dormant and has a scheduler; its upcalls begin at that component's upcall entry.
int64_t sys_brand_bind(uint64_t brand, uint64_t thread, uint64_t depth);

// For component.c: the running thread's upcall of the brand is done. Returns only where it cannot be.
int64_t brand_complete(struct brand *brand);
// For scheduler.c: executes a pending upcall on the running thread, if there is one.
void brand_execute_pending(struct brand *brand);
#endif

#endif
