// SPDX-License-Identifier: BSD-2-Clause
//
// A circle as it is written down: once, for all the variants in which it runs. Compiled into the
// kernel and into the user image; the functions use nothing but calls.h, so the same source runs on
// both sides.
#ifndef CIRCLE_H
#define CIRCLE_H

#include <stdint.h>

#include <cyc/circle.h>
#include <cyc/clock.h>
#include <cyc/record.h>

#include "config.h"
#include "memlayout.h"
#include "objects/object.h"
#include "syscall.h"

#define BENCH_OBJECTS_MAX 8
#define KEY_BYTES 96

// Where the threads of one variant run.
struct variant {
    uint8_t client_user; // 1: user thread, 0: kernel thread
    uint8_t peer_user;
    uint8_t cross_space; // two user threads in two address spaces
};

// What the variants of a circle are. Threads: either ALONE (the client has no peer) or pairs,
// client_to_peer.
enum sides {
    KERNEL_ALONE = 1,
    USER_ALONE = 2,
    K_TO_K = 4,
    K_TO_U = 8,
    U_TO_K = 16,
    U_TO_U = 32,
    ALL_ALONE = KERNEL_ALONE | USER_ALONE,
    ALL_PAIRS = K_TO_K | K_TO_U | U_TO_K | U_TO_U,
};
enum spaces { SAME_SPACE = 1, CROSS_SPACE = 2 }; // 0: same, and the key does not say so

// How the key ends.
enum naming {
    BY_MODE, // ".kernel", ".user": the client
    BY_PEER, // the same: the peer
    BY_PAIR, // ".k_to_u": client, peer
    BY_FROM, // ".kernel.from.user": peer, client
    BY_NOTHING,
};

struct bench_shared;

// An object that the runner makes before the circle and all its threads can name. With type
// OBJECT_thread it is a further thread, dead until created, on the peer's side.
struct request {
    enum object_type type;
    uint64_t a, b; // for <type>_init()
};

struct circle {
    // Key without its ending; `expect` and `params` only what is not derived from the fields below.
    struct cyc_contract contract;
    enum sides sides;
    enum spaces spaces;
    enum naming naming;
    struct request objects[BENCH_OBJECTS_MAX];
    cyc_turns_fn *turns;                 // by the client; its argument is the shared
    cyc_pass_fn *pass;                   // instead of turns, where not all of a turn is timed
    void (*peer)(struct bench_shared *); // endless, or sets up what the client needs; NULL for a
                                         // circle of one thread
    void (*prepare)(
        struct bench_shared *); // by the client, once, before its first turn; may be NULL
    uint8_t client_priority, peer_priority;
    uint8_t cooperative; // both threads
    uint8_t
        other_cpu;   // the peer's side is on the other hart (not with smp=off), and the key says so
    uint8_t passive; // with mcs=on the peer runs on the client's scheduling context
    uint8_t client_calls,
        peer_calls;               // calls a turn: kernel entries where that side is in user mode
    uint8_t switches, interrupts; // a turn
    uint8_t moves;  // a turn: threads that go to another space, and back, without a switch
    uint32_t words; // for the functions: shared->words
    void (*setup)(struct bench_shared *); // in the kernel, before the threads start; may be NULL
    void (*teardown)(struct bench_shared *);
};
#define END_OF_FAMILY             \
    {                             \
        .contract = {.key = NULL} \
    }

// Lists in designated initialisers; in parentheses, so that they can be arguments of macros.
#define SEQUENCE(...) ((const char *const[]){__VA_ARGS__, NULL})
#define EXPECT(...) ((const struct cyc_expect[]){__VA_ARGS__, {0}})
#define PARAMS(...) ((const struct cyc_param[]){__VA_ARGS__, {0}})
// Kernel code in a circle's file: the user image has NULL in its place. User code: the kernel only
// knows that there is some.
#ifdef USER_PROGRAM
#define IN_KERNEL(function) NULL
#define IN_USER(function) (function)
#else
void only_in_user(void);
#define IN_KERNEL(function) (function)
#define IN_USER(function) ((void *)only_in_user)
#endif

enum method { ACCUMULATED, DIRECT, PASSES };

// The page that all threads of a circle share, and the runner with them.
struct bench_shared {
    // From the runner.
    uint32_t circle; // number of the circle, the same in both images
    uint32_t words;
    struct variant variant;
    enum method method;
    struct cyc_flow flow;
    uint32_t passes;
    uint32_t visit;
    // Handed from client to client.
    uint64_t origin;
    struct cyc_writer writer; // its counts; whoever writes takes it by bench_writer()
    // The circle's own.
    uint64_t begin, end; // the clock at that end of a one-way interval which lies in the peer
    uint64_t scratch[8];
};
_Static_assert(sizeof(struct bench_shared) <= PAGE_BYTES, "the shared is one page");

// The circle's object number `i`: in the kernel its address, in a user program its handle.
#ifdef USER_PROGRAM
static inline void *bench_object(const struct bench_shared *shared, unsigned i)
{
    (void)shared;
    return (void *)(uint64_t)i;
}
#else
extern struct object *bench_objects[BENCH_OBJECTS_MAX];
static inline void *bench_object(const struct bench_shared *shared, unsigned i)
{
    (void)shared;
    return bench_objects[i];
}
#endif

// The clock of this board, in either mode.
extern const struct cyc_clock machine_clock;

extern const struct circle *const families[]; // ends with NULL

// Circle number `number`, or NULL behind the last.
const struct circle *circle_number(uint32_t number);
// The next variant of the circle after `previous` (-1 for the first) that this configuration has;
// -1 behind the last.
int variant_next(const struct circle *circle, int previous, struct variant *variant);
// The contract of one variant, in static memory: the next call overwrites it.
const struct cyc_contract *variant_contract(const struct circle *circle,
                                            const struct variant *variant);

// Thread bodies.
void client_main(struct bench_shared *shared);
void peer_main(struct bench_shared *shared);

// The shared's writer for the calling program: lines go out by console_write(), and that time stays
// out of shared->origin. What another program left in it but the counts is not trusted.
struct cyc_writer *bench_writer(struct bench_shared *shared);

#endif
