// SPDX-License-Identifier: BSD-2-Clause
//
// How to write a circle: a benchmark of one kernel primitive. circles/TEMPLATE.c is a complete
// example. A circle is one definition at file scope, and registers itself:
//
//     CIRCLE("object.operation") = {
//         .title = "What a turn does, in one line",
//         ...
//     };
//
// Each visit (the measurement of one circle at a time) is a separate process, so a circle keeps
// its state in static variables, starts with all of them zero, and releases nothing. Only System V
// objects outlive a process: pass them to circle_remove_sysv().
#ifndef LINUX_CIRCLE_H
#define LINUX_CIRCLE_H

#include <stdint.h>
#include <sys/types.h>

#include <cyc/circle.h>

enum interval { ROUND_TRIP, ONE_WAY, HALF };
enum space { SAME_SPACE, CROSS_SPACE }; // the server is a thread of the client, or a process
enum placement { SAME_CPU, OTHER_CPU }; // where peers run; the client's CPU is the visit's

struct linux_circle;

// What else a circle's contract says if its peers run on another CPU than the client.
struct elsewhere {
    const char *const *sequence;     // NULL: as on one CPU
    const struct cyc_expect *expect; // counters of both CPUs
    const struct cyc_expect *at_least;
    void (*setup)(const struct linux_circle *self); // NULL: as on one CPU
    cyc_pass_fn *pass; // NULL: as on one CPU; otherwise in place of `turns`
};

// `self` is passed to every function, so that several circles can share them.
struct linux_circle {
    // The contract. Counters are named in FORMAT.md, and each is checked in every test.
    const char *title;                 // one line for people
    const char *const *sequence;       // CYC_SEQUENCE("who: what", ...): one turn, in order
    enum interval interval;            // ROUND_TRIP if not set
    const char *from, *to;             // the event at each end of the interval
    const struct cyc_expect *expect;   // CYC_EXPECT({"counter", exact count per turn}, ...)
    const struct cyc_expect *at_least; // lower bounds, where a race decides; NULL if there are none
    const struct cyc_param *params;    // CYC_PARAMS({"name", "value"}, ...), or NULL

    // Makes the objects and starts the peers; calls circle_skip() if this machine cannot run the
    // circle. NULL if there is nothing to make.
    void (*setup)(const struct linux_circle *self);
    cyc_turns_fn *turns; // `arg` is self; NULL if `pass` times every turn by itself
    cyc_pass_fn *pass;   // NULL unless the interval's ends lie in two threads or in a sleep
    // What every call of `turns` does besides its turns, if that is countable: a call for no turns.
    // Its events are taken off the counters. NULL if there is nothing.
    void (*idle)(const struct linux_circle *self);
    enum space space;         // where peer_start() puts the server
    int client, server;       // SCHED_FIFO priorities, 1 to 99; 0 if there is no server
    enum placement placement; // OTHER_CPU: the circle is one of two CPUs
    int spins;                // the peers wait by reading memory, and never block
    // Makes KEY.other_cpu of the circle, which is the same with its peers on another CPU; or NULL.
    const struct elsewhere *elsewhere;
    int needs_fifo;      // equal priorities are not enough: it relies on the order of arrival, too
    const void *variant; // what distinguishes circles that share functions; only they know its type
};

// A circle with its name, as CIRCLE puts it into a section of the program.
struct registered_circle {
    const char *key;    // object.operation[.condition...][.from_to_to], lower case
    const char *source; // "file:line" of its CIRCLE
    const struct linux_circle *circle;
};

// The section holds pointers, because a compiler may pad structs but never pointers.
#define CIRCLE(key_) CIRCLE_ON(key_, __LINE__)
#define CIRCLE_ON(key_, line_) CIRCLE_REGISTERED(key_, line_)
#define CIRCLE_REGISTERED(key_, line_)                                                     \
    static const struct linux_circle circle_##line_;                                       \
    static const struct registered_circle registered_##line_ = {key_, __FILE__ ":" #line_, \
                                                                &circle_##line_};          \
    static const struct registered_circle *const register_##line_                          \
        __attribute__((used, section("cyc_circles"))) = &registered_##line_;               \
    static const struct linux_circle circle_##line_

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

// Starts the server, on the CPU of self->placement and with priority self->server, as a thread or a
// process after self->space. `body` runs for ever; it ends with the visit. Returns the peer's
// thread id.
pid_t peer_start(const struct linux_circle *self, void (*body)(const struct linux_circle *self));
// The same for circles whose peer is not "the server": explicit space and priority.
pid_t peer_start_at(const struct linux_circle *self, enum space space, int priority,
                    void (*body)(const struct linux_circle *self));

// Waits, for a bounded time, until the peers sleep. The system calls that this takes are counted
// nowhere. Only in circles of two CPUs whose peers block, and within `turns` or `pass`.
void peers_await(void);

// The number of the client's CPU, or of the peers' one in a circle of two CPUs.
int cpu_of(enum placement placement);

// Memory shared with every peer, zeroed; `size` bytes, page aligned, resident.
void *shared_alloc(size_t size);

// Outcome counters, shared with every peer; increment where the outcome happens.
struct outcomes {
    int64_t handled;   // a signal, message or event arrived where it was meant to
    int64_t contended; // a lock's slow path was taken
    int64_t rests;     // a side that waits by reading memory gave up its CPU: spin.h
    int64_t requests;  // calls of `turns` and `idle`, of a circle that has both
};
extern struct outcomes *outcomes;

// A visit's memory is locked, what is mapped later, too: the kernel populates it at once. Ends that
// for later mappings; mlockall() would not last, because emptying the caches locks them again.
void circle_unlock_future_memory(void);

// Removes a System V object when the visit ends, however it ends.
void circle_remove_sysv(char kind /* 'm' message queue, 's' semaphores */, int id);

// The clock of this run, for circles with a `pass`.
uint64_t clock_begin(void);
uint64_t clock_end(void);
uint64_t clock_hz(void); // 0 if unknown: the clock cannot be related to another one then

// Keeps the compiler from merging turns or moving memory accesses across it.
#define COMPILER_BARRIER() __asm__ volatile("" ::: "memory")

#endif
