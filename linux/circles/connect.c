// SPDX-License-Identifier: BSD-2-Clause
//
// What it costs to make a connection and to end it, as lmbench's lat_unix_connect: a client
// connects to a socket of a name, and its server accepts and hangs up.
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "contract.h"

static int listener;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_bytes = sizeof(sa_family_t);

static int stream(void)
{
    return (int)must(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
}

static void serve(const struct linux_circle *self)
{
    (void)self;
    for (;;)
        close((int)must(accept4(listener, NULL, NULL, SOCK_CLOEXEC), "accept4"));
}

static void set_up(const struct linux_circle *self)
{
    listener = stream();
    // Bound to a family alone, it gets a free name from the kernel, which no file system holds.
    must(bind(listener, (struct sockaddr *)&address, address_bytes), "bind");
    address_bytes = sizeof address;
    must(getsockname(listener, (struct sockaddr *)&address, &address_bytes), "getsockname");
    must(listen(listener, 1), "listen");
    peer_start(self, serve);
}

static void connects(void *arg, uint64_t turns)
{
    char end;
    (void)arg;
    for (; turns > 0; turns--) {
        int fd = stream();
        must(connect(fd, (struct sockaddr *)&address, address_bytes), "connect");
        must(read(fd, &end, sizeof end), "read");
        close(fd);
    }
}

// Six entries: socket, connect, read and close of the client, accept4 and close of the server.
#define CONNECT(space_)                                                                            \
    .sequence =                                                                                    \
        CYC_SEQUENCE("client: socket", "client: connect", "client: blocks in read",                \
                     "server: returns from accept4", "server: close", "server: blocks in accept4", \
                     "client: read returns the end", "client: close"),                             \
    .from = "client: before socket", .to = "client: after close", EQUAL(6, space_),                \
    .setup = set_up, .turns = connects

CIRCLE("unix_stream.connect.same.equal") = {
    .title = "Connect to a UNIX stream socket, accepted and closed, same space",
    CONNECT(SAME_SPACE),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}),
};

CIRCLE("unix_stream.connect.cross.equal") = {
    .title = "Connect to a UNIX stream socket, accepted and closed, cross space",
    CONNECT(CROSS_SPACE),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}),
};
