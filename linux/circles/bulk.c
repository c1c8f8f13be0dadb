// SPDX-License-Identifier: BSD-2-Clause
//
// Much data: copies within memory, transfers through a pipe, and switches between two processes
// that each read a working set of their own. A row per size; what a row takes, divided by its
// bytes, is a bandwidth.
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"

static size_t bytes;
static char *from, *to;
static int request[2], reply[2];

static void set_up_copy(const struct linux_circle *self)
{
    bytes = *(const size_t *)self->variant;
    from = shared_alloc(bytes);
    to = shared_alloc(bytes);
}

static void copies(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        memcpy(to, from, bytes);
        COMPILER_BARRIER();
    }
}

static void make_pipes(void)
{
    must(pipe2(request, O_CLOEXEC), "pipe2");
    must(pipe2(reply, O_CLOEXEC), "pipe2");
}

static void serve_transfer(const struct linux_circle *self)
{
    (void)self;
    char done = 0;
    for (;;) {
        for (size_t got = 0; got < bytes;)
            got += (size_t)must(read(request[0], to, bytes), "read");
        must(write(reply[1], &done, 1), "write");
    }
}

// The pipe takes all of a request, so the client does not wait before it asks for the reply.
static void set_up_transfer(const struct linux_circle *self)
{
    set_up_copy(self);
    make_pipes();
    if (fcntl(request[1], F_SETPIPE_SZ, bytes) < (int)bytes)
        circle_skip("no pipe may be that large; raise fs.pipe-max-size");
    peer_start(self, serve_transfer);
}

static void transfers(void *arg, uint64_t turns)
{
    char done;
    (void)arg;
    for (; turns > 0; turns--) {
        must(write(request[1], from, bytes), "write");
        must(read(reply[0], &done, 1), "read");
    }
}

// Reads every line of a working set.
static inline void walk(const volatile char *set)
{
    for (size_t i = 0; i < bytes; i += 64)
        (void)set[i];
}

static void serve_walk(const struct linux_circle *self)
{
    char token;
    (void)self;
    for (;;) {
        must(read(request[0], &token, 1), "read");
        walk(to);
        must(write(reply[1], &token, 1), "write");
    }
}

static void set_up_switch(const struct linux_circle *self)
{
    set_up_copy(self);
    make_pipes();
    peer_start(self, serve_walk);
}

static void switches(void *arg, uint64_t turns)
{
    char token = 0;
    (void)arg;
    for (; turns > 0; turns--) {
        walk(from);
        must(write(request[1], &token, 1), "write");
        must(read(reply[0], &token, 1), "read");
    }
}

static void walks(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        walk(from);
        walk(to);
    }
}

#define SIZED(bytes_, set_up_, turns_)                                           \
    .params = CYC_PARAMS({"bytes", #bytes_}), .setup = set_up_, .turns = turns_, \
    .variant = SIZE(bytes_)
#define COPY(bytes_) ALONE("memcpy"), .expect = ENTRIES(0), SIZED(bytes_, set_up_copy, copies)
// A reader on another CPU takes what is there while the rest is still being written.
#define TAKEN_IN_PARTS                                                             \
    .elsewhere = &(const struct elsewhere)                                         \
    {                                                                              \
        .expect = CYC_EXPECT({"involuntary", 0}, {"faults", 0}, {"elsewhere", 0}), \
        .at_least = CYC_EXPECT({"entries", 4})                                     \
    }
#define TRANSFER(bytes_)                                                                    \
    ROUND_TRIP_EQUAL("write", "read"), EQUAL_ON_ONE_CPU(4, CROSS_SPACE), TAKEN_IN_PARTS,    \
        .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", #bytes_}, \
                             {"reply_bytes", "1"}),                                         \
        .setup = set_up_transfer, .turns = transfers, .variant = SIZE(bytes_)
#define SWITCH(bytes_)                                                                            \
    .sequence =                                                                                   \
        CYC_SEQUENCE("client: walks its set", "client: write request", "client: blocks in read",  \
                     "server: returns from read", "server: walks its set", "server: write reply", \
                     "server: blocks in read", "client: returns from read"),                      \
    .from = "client: before its walk", .to = "client: after read", EQUAL(4, CROSS_SPACE),         \
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes_a_side", #bytes_}),   \
    .setup = set_up_switch, .turns = switches, .variant = SIZE(bytes_)

CIRCLE("memory.copy.bytes_64") = {
    .title = "Copy 64 bytes",
    COPY(64),
};

CIRCLE("memory.copy.bytes_4096") = {
    .title = "Copy 4 KiB",
    COPY(4096),
};

CIRCLE("memory.copy.bytes_65536") = {
    .title = "Copy 64 KiB",
    COPY(65536),
};

CIRCLE("memory.copy.bytes_1048576") = {
    .title = "Copy 1 MiB",
    COPY(1048576),
};

CIRCLE("memory.copy.bytes_8388608") = {
    .title = "Copy 8 MiB",
    COPY(8388608),
};

CIRCLE("pipe.transfer.cross.bytes_4096") = {
    .title = "Send 4 KiB through a pipe, and a byte back",
    TRANSFER(4096),
};

CIRCLE("pipe.transfer.cross.bytes_65536") = {
    .title = "Send 64 KiB through a pipe, and a byte back",
    TRANSFER(65536),
};

CIRCLE("pipe.transfer.cross.bytes_1048576") = {
    .title = "Send 1 MiB through a pipe, and a byte back",
    TRANSFER(1048576),
};

CIRCLE("switch.working_set.cross.bytes_4096") = {
    .title = "Round trip over two pipes between processes that each read 4 KiB of their own",
    SWITCH(4096),
};

CIRCLE("switch.working_set.cross.bytes_65536") = {
    .title = "Round trip over two pipes between processes that each read 64 KiB of their own",
    SWITCH(65536),
};

CIRCLE("switch.working_set.cross.bytes_1048576") = {
    .title = "Round trip over two pipes between processes that each read 1 MiB of their own",
    SWITCH(1048576),
};

// The same reading by one process: what is left of the row above is the switches' part.
CIRCLE("switch.working_set.alone.bytes_4096") = {
    .title = "One process reads two sets of 4 KiB",
    ALONE("walks both sets"),
    .expect = ENTRIES(0),
    SIZED(4096, set_up_copy, walks),
};

CIRCLE("switch.working_set.alone.bytes_65536") = {
    .title = "One process reads two sets of 64 KiB",
    ALONE("walks both sets"),
    .expect = ENTRIES(0),
    SIZED(65536, set_up_copy, walks),
};

CIRCLE("switch.working_set.alone.bytes_1048576") = {
    .title = "One process reads two sets of 1 MiB",
    ALONE("walks both sets"),
    .expect = ENTRIES(0),
    SIZED(1048576, set_up_copy, walks),
};
