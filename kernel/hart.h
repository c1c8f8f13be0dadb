// SPDX-License-Identifier: BSD-2-Clause
//
// What each hart has of its own. With smp=off there is one hart, and its state is plain variables;
// otherwise each thread belongs to a hart, and HERE is that of the running thread.
#ifndef HART_H
#define HART_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "list.h"
#include "thread.h"

#define LEVELS (LEVEL_MAX + 1)

// FIELD(type, name, array bounds, where it is placed if there is one hart)
#define HART_STATE(FIELD)                                                                       \
    /* The ready queue: a list per level, and three layers of bitmap over it, see sched.h.      \
       The running thread is in none; all others that can run are, the idle thread included. */ \
    FIELD(uint8_t, ready_top, , HOT_DATA)                                                       \
    FIELD(uint8_t, ready_groups, [8], HOT_DATA)                                                 \
    FIELD(uint8_t, ready_levels, [64], HOT_DATA)                                                \
    FIELD(struct link, ready, [LEVELS], )                                                       \
    FIELD(struct thread, idle, , )                                                              \
    /* In satp; NULL if that is the kernel's own. */                                            \
    FIELD(struct space *, space_loaded, , HOT_DATA)                                             \
    /* Threads that wait for a time, the earliest first, and what the timer is set to. */       \
    FIELD(struct link, timeouts, , )                                                            \
    FIELD(uint64_t, programmed_ticks, , HOT_DATA)

struct hart;
#if CONFIG_SMP
struct hart {
#if CONFIG_FINE // the offsets are in asm_offsets.h
    struct lock lock;
    struct lock *held; // the locks that it has besides, the latest first
    uint64_t counters[COUNTERS_END];
#endif
#define FIELD(type, name, bounds, place) type name bounds;
    HART_STATE(FIELD)
#undef FIELD
    struct thread *running;
    uint64_t number;
#if CONFIG_FINE // what other harts write has cache lines of its own
    struct lock arrivals __attribute__((aligned(CACHE_LINE_BYTES))); // of the next one
    struct link arrived; // its threads that others have woken, until its next interrupt
#endif
} __attribute__((aligned(CACHE_LINE_BYTES)));
extern struct hart harts[HARTS_MAX];
#define HERE(name) (current->hart->name)
#else
#define FIELD(type, name, bounds, place) extern type name bounds;
HART_STATE(FIELD)
#undef FIELD
#define HERE(name) name
#endif

// The result of an operation that fails. Counted, because a circle must not time failures.
static inline int64_t refuse(enum error error)
{
    COUNT(refused);
    return error;
}

// HERE is that of the thread's hart until hart_return(), with the lock held.
static inline struct hart *hart_visit(const struct thread *t)
{
#if CONFIG_SMP
    struct hart *own = current->hart;
    current->hart = t->hart;
    return own;
#else
    (void)t;
    return NULL;
#endif
}

static inline void hart_return(struct hart *own)
{
#if CONFIG_SMP
    current->hart = own;
#else
    (void)own;
#endif
}

// Makes the flow that calls it the idle thread of a hart, by its number.
static inline void hart_start(uint64_t number)
{
#if CONFIG_SMP
    struct hart *hart = &harts[number];
    *hart = (struct hart){.number = number, .idle = {.name = "idle", .hart = hart}};
    hart->running = &hart->idle;
    current = &hart->idle;
#else
    (void)number;
    idle = (struct thread){.name = "idle"};
    current = &idle;
#endif
}

#endif
