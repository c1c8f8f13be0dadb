// SPDX-License-Identifier: BSD-2-Clause
//
// Round trips of one byte over two pipes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "../circle.h"

static int request[2], reply[2];

static void serve(const struct circle *self)
{
    char byte;
    (void)self;
    for (;;) {
        must((int)read(request[0], &byte, 1), "read");
        must((int)write(reply[1], &byte, 1), "write");
    }
}

static void setup(const struct circle *self)
{
    must(pipe2(request, O_CLOEXEC), "pipe2");
    must(pipe2(reply, O_CLOEXEC), "pipe2");
    peer_start(self, serve);
}

static void turns_(void *arg, uint64_t turns)
{
    char byte = 0;
    (void)arg;
    for (; turns > 0; turns--) {
        must((int)write(request[1], &byte, 1), "write");
        must((int)read(reply[0], &byte, 1), "read");
    }
}


const struct circle pipe_circles[] = {
    {.contract = {.key = "pipe.round_trip.cross.equal",
                  .title = "Round trip over two pipes",
                  .sequence = SEQUENCE("client: write request", "server: returns from read", "server: write reply",
                                       "client: returns from read"),
                  .interval = "round_trip",
                  .from = "client: before write",
                  .to = "client: after read",
                  .expect = EXPECT({"entries", 4}, {"switches", 2}, {"space_switches", 2}, {"faults", 0}),
                  .params = PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
                  .correction = "none"},
     .setup = setup, .turns = turns_, .space = CROSS_SPACE, .client = 50, .server = 50},
    END_OF_FAMILY,
};
