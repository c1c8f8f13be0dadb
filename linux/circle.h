// SPDX-License-Identifier: BSD-2-Clause
//
// What a file in circles/ provides and what it may use. A visit runs in a process of
// its own, so a circle keeps its state in static variables and cleans nothing up:
// whatever outlives a process is handed to host_forget_later().
#ifndef LINUX_CIRCLE_H
#define LINUX_CIRCLE_H

#include <stdint.h>
#include <sys/types.h>

#include "../core/circle.h"

enum space { SAME_SPACE, CROSS_SPACE }; // the server is a thread of the client, or a process

// One row of a family's table. `self` is passed to every function, so that one piece of code
// serves all its variants.
struct circle {
    struct cyc_contract contract;
    // Makes the objects and starts the peers; calls circle_skip() where this machine cannot run it.
    void (*setup)(const struct circle *self); // NULL where there is nothing to make
    cyc_turns_fn *turns; // arg is `self`; NULL where `pass` times every turn by itself
    cyc_pass_fn *pass;   // NULL unless the interval's ends lie in two threads or in a sleep
    enum space space;
    int client, server; // SCHED_FIFO priorities; 0 where there is no server
    int size;           // words, bytes or pages, as the family means it
};

// The lists of a contract, written in place; the outer brackets let them pass through further macros.
#define SEQUENCE(...) ((const char *const[]){__VA_ARGS__, NULL})
#define EXPECT(...) ((const struct cyc_expect[]){__VA_ARGS__, {0}})
#define PARAMS(...) ((const struct cyc_param[]){__VA_ARGS__, {0}})
#define END_OF_FAMILY {.contract = {.key = NULL}}

// A family of circles; the table ends with END_OF_FAMILY. All families stand in circles/families.c.
extern const struct circle *const families[];

// Gives the visit up: `reason` is one sentence for the reader. Does not return.
_Noreturn void circle_skip(const char *reason);
// As circle_skip, for a call that must not fail; names the call and errno. Does not return.
_Noreturn void circle_fail(const char *call);
// `result`, unless it is negative: then circle_fail(call). One predicted branch inside a circle.
static inline long must(long result, const char *call)
{
    if (__builtin_expect(result < 0, 0))
        circle_fail(call);
    return result;
}

// Starts the server on the visit's CPU at self->server, as thread or process after self->space.
// `body` runs for ever; it dies with the visit. Returns the peer's thread id.
pid_t peer_start(const struct circle *self, void (*body)(const struct circle *self));
// The same for circles whose peer is not "the server": explicit space and priority.
pid_t peer_start_at(const struct circle *self, enum space space, int priority,
                    void (*body)(const struct circle *self));

// Memory shared with every peer, zeroed; `size` bytes, page aligned, resident.
void *shared_alloc(size_t size);

// Outcome counters, shared with every peer; increment where the outcome happens.
struct outcomes {
    int64_t handled;   // a signal, message or event arrived where it was meant to
    int64_t contended; // a lock's slow path was taken
};
extern struct outcomes *outcomes;

// Removes a System V object or a message queue name when the visit is over, however it ends.
void host_forget_sysv(char kind /* 'm' queue, 's' semaphores */, int id);

// The clock of this run, for circles with a `pass`.
uint64_t clock_begin(void);
uint64_t clock_end(void);
uint64_t clock_hz(void); // 0 where the clock's rate is unknown: it cannot be related to another clock then

// Keeps the compiler from merging turns or moving memory accesses across it.
#define COMPILER_BARRIER() __asm__ volatile("" ::: "memory")

#endif
