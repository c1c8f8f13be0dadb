// SPDX-License-Identifier: BSD-2-Clause
//
// Brands, as Composite's: the right to interrupt. When a program or an interrupt raises a brand,
// the kernel runs an upcall in the brand's component, on the thread bound to the brand: at once if
// that thread is more urgent than the running one according to the scheduler of both, otherwise
// later. A brand raised while its upcall runs is counted, not queued, so its arguments are lost.
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
    uint64_t mediated;           // whether each raise asks its scheduler what to run
};

void brand_init(struct brand *brand, uint64_t mediated, uint64_t pending);

#if CONFIG_USERSPACE
int64_t brand_upcall(struct brand *brand, uint64_t a, uint64_t b);
// An interrupt handler (trap.h): raises the brand without arguments.
void brand_interrupt(void *brand);

// System call. Binds the brand to a dormant thread that has a scheduler. Its upcalls begin at the
// upcall entry of the component in which the caller was `depth` invocations ago.
int64_t sys_brand_bind(uint64_t brand, uint64_t thread, uint64_t depth);

// For component.c: ends the running thread's upcall of the brand. Returns only if it cannot.
int64_t brand_complete(struct brand *brand);
// For user_scheduler.c: begins a pending upcall on the running thread, if there is one.
void brand_execute_pending(struct brand *brand);
#endif

#endif
