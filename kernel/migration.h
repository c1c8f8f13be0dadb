// SPDX-License-Identifier: BSD-2-Clause
//
// What a thread keeps of its way through components and of its user-level schedulers, as part of
// struct thread. The objects are in objects/component.c, brand.c and user_scheduler.c.
#ifndef MIGRATION_H
#define MIGRATION_H

#include <stdint.h>

#define INVOCATIONS_MAX 31
#define SCHEDULER_LEVELS 4 // a thread may have a scheduler at each; the root's is 0

struct component;
struct space;
struct thread;
struct user_scheduler;

// Where a thread was before an invocation.
struct invocation {
    struct component *component;
    struct space *space;
    uint64_t pc, sp;
};

struct migration {
    struct component *component; // in which it executes; NULL in a program that is not one
    struct space *home;          // in which it was created; NULL for a kernel thread
    uint64_t stack_top;          // of its user stack, in every space
    uint64_t depth;              // used of `stack`
    struct invocation stack[INVOCATIONS_MAX];
    struct thread *interrupted; // runs on when this thread's upcall is done
    struct thread *interrupter; // the upcall that this thread waits for: the same link, backwards
};

// A thread's place in one scheduler.
struct place {
    struct user_scheduler *scheduler; // NULL: none at this level
    uint64_t slot;
};

#endif
