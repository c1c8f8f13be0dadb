// SPDX-License-Identifier: BSD-2-Clause
//
// A template: copy this file, in this folder to a name in lower case or anywhere else, and change
// what it times. `make test` compiles it, but no harness contains it. A copy outside of this folder
// runs with `cyclometer run --circles ./mine.c`.
//
// It times a round trip between two threads over a pair of eventfds that count like semaphores.
#define _GNU_SOURCE
#include <sys/eventfd.h>
#include <unistd.h>

#include "linux_circle.h"

// State is static: every visit is a separate process.
static int request, reply;

// What distinguishes the two circles of this file. A circle points to it with .variant.
struct batch {
    uint64_t gives; // per request
};

static int make_semaphore(void)
{
    // must() gives the visit up with the name of the call and errno.
    return (int)must(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE), "eventfd");
}

static inline void give(int semaphore, uint64_t count)
{
    must(write(semaphore, &count, sizeof count), "write");
}

static inline void take(int semaphore)
{
    uint64_t one;
    must(read(semaphore, &one, sizeof one), "read");
}

// The server: started by peer_start(), pinned to the client's CPU, ended with the visit.
static void serve(const struct linux_circle *self)
{
    const struct batch *batch = self->variant;
    for (;;) {
        for (uint64_t i = 0; i < batch->gives; i++)
            take(request);
        give(reply, 1);
    }
}

// Runs once per visit, before anything is timed.
static void set_up(const struct linux_circle *self)
{
    if (access("/proc/self/stat", R_OK) != 0)
        circle_skip("this example wants /proc; mount it"); // one sentence: what is missing
    request = make_semaphore();
    reply = make_semaphore();
    peer_start(self, serve);
}

// The code under test: `turns` times round the circle and nothing else. The harness reads the clock
// before and after it and the counters outside of that. Whatever can be done before the loop, do
// before the loop.
static void round_trips(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    const struct batch *batch = self->variant;
    uint64_t gives = batch->gives;
    for (; turns > 0; turns--) {
        give(request, gives);
        take(reply);
    }
}

// The key names the object, the operation and the conditions, from the general to the special, in
// lower case. Write it in one piece, so that it can be found.
CIRCLE("template.round_trip.same.equal") = {
    .title = "Round trip over two counting eventfds, same space, equal priorities",
    // One turn as the author understands it; people read it, and `explain` draws it.
    .sequence = CYC_SEQUENCE("client: write request", "client: blocks in read",
                             "server: returns from read", "server: write reply",
                             "server: blocks in read", "client: returns from read"),
    .from = "client: before write",
    .to = "client: after read",
    // The exact counts of one turn, over all participants. The harness checks each of them in every
    // test; a circle that counts otherwise is reported as invalid. FORMAT.md lists the counters.
    .expect = CYC_EXPECT({"entries", 4}, {"switches", 2}, {"space_switches", 0}, {"wakeups", 2},
                         {"voluntary", 1}, {"involuntary", 0}, {"faults", 0}),
    // What distinguishes this circle from its relatives. Circles of different parameters are never
    // compared.
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"gives", "1"}),
    .setup = set_up,
    .turns = round_trips,
    .space = SAME_SPACE, // the server is a thread; CROSS_SPACE makes it a process
    .client = 50,        // SCHED_FIFO priorities
    .server = 50,
    .variant = &(const struct batch){.gives = 1},
};

// The server takes three times and blocks only once: two more entries, nothing else.
CIRCLE("template.round_trip.same.equal.gives_3") = {
    .title = "Round trip over two counting eventfds, three given at once",
    .sequence = CYC_SEQUENCE("client: write 3", "client: blocks in read",
                             "server: returns from read", "server: read returns at once, twice",
                             "server: write reply", "server: blocks in read",
                             "client: returns from read"),
    .from = "client: before write",
    .to = "client: after read",
    .expect = CYC_EXPECT({"entries", 6}, {"switches", 2}, {"space_switches", 0}, {"wakeups", 2},
                         {"voluntary", 1}, {"involuntary", 0}, {"faults", 0}),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"gives", "3"}),
    .setup = set_up,
    .turns = round_trips,
    .space = SAME_SPACE,
    .client = 50,
    .server = 50,
    .variant = &(const struct batch){.gives = 3},
};
