// SPDX-License-Identifier: BSD-2-Clause
//
// Round trips over whatever is written and read through file descriptors: pipes, UNIX and TCP
// sockets, eventfds. Only the setup differs; the circle is one write and one read on each side.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "contract.h"

// Both ends of both directions; a duplex object has the same descriptor for `in` and `out`.
static struct end {
    int in, out;
} client, server;

static void serve(const struct circle *self)
{
    uint64_t message;
    size_t size = (size_t)self->size;
    for (;;) {
        must(read(server.in, &message, size), "read");
        must(write(server.out, &message, size), "write");
    }
}

static void round_trips(void *arg, uint64_t turns)
{
    const struct circle *self = arg;
    uint64_t message = 1;
    size_t size = (size_t)self->size;
    for (; turns > 0; turns--) {
        must(write(client.out, &message, size), "write");
        must(read(client.in, &message, size), "read");
    }
}

static void set_up_pipe(const struct circle *self)
{
    int request[2], reply[2];
    must(pipe2(request, O_CLOEXEC), "pipe2");
    must(pipe2(reply, O_CLOEXEC), "pipe2");
    client = (struct end){.in = reply[0], .out = request[1]};
    server = (struct end){.in = request[0], .out = reply[1]};
    peer_start(self, serve);
}

static void set_up_eventfd(const struct circle *self)
{
    int request = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    int reply = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    client = (struct end){.in = reply, .out = request};
    server = (struct end){.in = request, .out = reply};
    peer_start(self, serve);
}

static void set_up_unix(const struct circle *self, int type)
{
    int ends[2];
    must(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), "socketpair");
    client = (struct end){.in = ends[0], .out = ends[0]};
    server = (struct end){.in = ends[1], .out = ends[1]};
    peer_start(self, serve);
}

static void set_up_unix_stream(const struct circle *self)
{
    set_up_unix(self, SOCK_STREAM);
}

static void set_up_unix_datagram(const struct circle *self)
{
    set_up_unix(self, SOCK_DGRAM);
}

static void set_up_unix_seqpacket(const struct circle *self)
{
    set_up_unix(self, SOCK_SEQPACKET);
}

// Small messages must leave at once: without TCP_NODELAY the turn could wait for an acknowledgement.
static int tcp_socket(void)
{
    int on = 1;
    int fd = (int)must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt(TCP_NODELAY)");
    return fd;
}

static void set_up_tcp(const struct circle *self)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *generic = (struct sockaddr *)&address;
    socklen_t length = sizeof address;
    int listener = tcp_socket(), near = tcp_socket();
    if (bind(listener, generic, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, generic, &length) != 0 || connect(near, generic, length) != 0)
        circle_skip("127.0.0.1 does not answer; bring the loopback interface up");
    int far = (int)must(accept4(listener, NULL, NULL, SOCK_CLOEXEC), "accept4"); // inherits TCP_NODELAY
    close(listener);
    client = (struct end){.in = near, .out = near};
    server = (struct end){.in = far, .out = far};
    peer_start(self, serve);
}

// Whoever reads from a UNIX stream frees the writer's buffer, which wakes the writer if it sleeps on its
// socket. A writer of higher priority that already waits for the answer then preempts, finds nothing and sleeps again.
#define STREAM_equal ROUND_TRIP_equal("write", "read")
#define STREAM_client_higher                                                                                           \
    SEQUENCE("client: write request", "client: blocks in read", "server: read takes the request, and wakes client",    \
             "client: preempts server, finds nothing, blocks again", "server: returns from read",                      \
             "server: write reply", "client: preempts server, returns from read")
#define STREAM_server_higher                                                                                           \
    SEQUENCE("client: write request", "server: preempts client, returns from read", "server: write reply",             \
             "server: blocks in read", "client: returns from write", "client: read takes the reply, and wakes server", \
             "server: preempts client, finds nothing, blocks again", "client: returns from read")
#define EXPECT_STREAM_equal(space_) EXPECT_ROUND_TRIP(4, space_, equal)
#define EXPECT_STREAM_client_higher(space_) EXPECT_WOKEN_TWICE(space_, 2, 0)
#define EXPECT_STREAM_server_higher(space_) EXPECT_WOKEN_TWICE(space_, 0, 2)
#define EXPECT_WOKEN_TWICE(space_, voluntary_, involuntary_)                                                           \
    EXPECT({"entries", 4}, {"switches", 4}, {"space_switches", 2 * SPACE_SWITCHES_##space_}, {"wakeups", 2},           \
           {"voluntary", voluntary_}, {"involuntary", involuntary_}, {"faults", 0})

#define CHANNEL(object, title_, setup_, bytes_, space_, relation_)                                                     \
    CHANNEL_WITH(object, title_, setup_, bytes_, space_, relation_, ROUND_TRIP_##relation_("write", "read"),           \
                 EXPECT_ROUND_TRIP(4, space_, relation_))
#define CHANNEL_WITH(object, title_, setup_, bytes_, space_, relation_, sequence_, expect_)                            \
    {                                                                                                                  \
        .contract = {.key = object ".round_trip." #space_ "." #relation_,                                              \
                     .title = "Round trip over " title_ ", " WORDS_##space_ ", " WORDS_##relation_,                    \
                     .sequence = sequence_,                                                                            \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before write",                                                                   \
                     .to = "client: after read",                                                                       \
                     .expect = expect_,                                                                                \
                     .params = PARAMS({"space", #space_}, {"priority", #relation_}, {"bytes", #bytes_}),               \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = round_trips, .size = bytes_, PLACED(space_, relation_),                              \
    }
#define PIPE(space, relation) CHANNEL("pipe", "two pipes", set_up_pipe, 1, space, relation)
#define STREAM(space, relation)                                                                                        \
    CHANNEL_WITH("unix_stream", "a UNIX stream socket pair", set_up_unix_stream, 1, space, relation,                   \
                 STREAM_##relation, EXPECT_STREAM_##relation(space))
#define DATAGRAM(space, relation)                                                                                      \
    CHANNEL("unix_datagram", "a UNIX datagram socket pair", set_up_unix_datagram, 1, space, relation)
#define SEQPACKET(space, relation)                                                                                     \
    CHANNEL("unix_seqpacket", "a UNIX seqpacket socket pair", set_up_unix_seqpacket, 1, space, relation)
#define TCP(space, relation) CHANNEL("tcp", "TCP on the loopback interface", set_up_tcp, 1, space, relation)
#define EVENTFD(space, relation) CHANNEL("eventfd", "two eventfds", set_up_eventfd, 8, space, relation)

const struct circle channel_circles[] = {
    EVERYWHERE(PIPE),
    EVERYWHERE(STREAM),
    EVERYWHERE(DATAGRAM),
    EVERYWHERE(SEQPACKET),
    EVERYWHERE(TCP),
    EVERYWHERE(EVENTFD),
    END_OF_FAMILY,
};
