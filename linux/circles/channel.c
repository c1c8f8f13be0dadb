// SPDX-License-Identifier: BSD-2-Clause
//
// Round trips over file descriptors: pipes, UNIX, TCP and UDP sockets, eventfds. Only the setup
// differs; a turn is one write and one read on each side.
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

static void serve(const struct linux_circle *self)
{
    uint64_t message;
    size_t size = *(const size_t *)self->variant;
    for (;;) {
        // The first read finds nothing: the server waits before the first test begins.
        must(read(server.in, &message, size), "read");
        must(write(server.out, &message, size), "write");
    }
}

static void round_trips(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    uint64_t message = 1;
    size_t size = *(const size_t *)self->variant;
    for (; turns > 0; turns--) {
        must(write(client.out, &message, size), "write");
        must(read(client.in, &message, size), "read");
    }
}

static void set_up_pipe(const struct linux_circle *self)
{
    int request[2], reply[2];
    must(pipe2(request, O_CLOEXEC), "pipe2");
    must(pipe2(reply, O_CLOEXEC), "pipe2");
    // A pipe has one direction, so there are two of them.
    client = (struct end){.in = reply[0], .out = request[1]};
    server = (struct end){.in = request[0], .out = reply[1]};
    peer_start(self, serve);
}

static void set_up_eventfd(const struct linux_circle *self)
{
    int request = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    int reply = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
    // Whoever wrote to an eventfd could read its own message, so there are two.
    client = (struct end){.in = reply, .out = request};
    server = (struct end){.in = request, .out = reply};
    peer_start(self, serve);
}

static void set_up_unix(const struct linux_circle *self, int type)
{
    int ends[2];
    must(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), "socketpair");
    client = (struct end){.in = ends[0], .out = ends[0]};
    server = (struct end){.in = ends[1], .out = ends[1]};
    peer_start(self, serve);
}

static void set_up_unix_stream(const struct linux_circle *self)
{
    set_up_unix(self, SOCK_STREAM);
}

static void set_up_unix_datagram(const struct linux_circle *self)
{
    set_up_unix(self, SOCK_DGRAM);
}

static void set_up_unix_seqpacket(const struct linux_circle *self)
{
    set_up_unix(self, SOCK_SEQPACKET);
}

// Small messages must leave at once: without TCP_NODELAY a turn could wait for an acknowledgement.
static int tcp_socket(void)
{
    int on = 1;
    int fd = (int)must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt(TCP_NODELAY)");
    return fd;
}

static void set_up_tcp(const struct linux_circle *self)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *generic = (struct sockaddr *)&address;
    socklen_t length = sizeof address;
    int listener = tcp_socket(), near = tcp_socket();
    // Port 0: the kernel chooses a free one, and getsockname() asks which.
    if (bind(listener, generic, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, generic, &length) != 0 || connect(near, generic, length) != 0)
        circle_skip("127.0.0.1 does not answer; bring the loopback interface up");
    int far =
        (int)must(accept4(listener, NULL, NULL, SOCK_CLOEXEC), "accept4"); // inherits TCP_NODELAY
    close(listener);
    client = (struct end){.in = near, .out = near};
    server = (struct end){.in = far, .out = far};
    peer_start(self, serve);
}

// An address of the loopback interface with a port that the kernel chooses.
static int udp_socket(struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int fd = (int)must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (struct sockaddr *)address, length) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &length) != 0)
        circle_skip("127.0.0.1 does not answer; bring the loopback interface up");
    return fd;
}

static void set_up_udp(const struct linux_circle *self)
{
    struct sockaddr_in near_address, far_address;
    int near = udp_socket(&near_address), far = udp_socket(&far_address);
    // Connected to each other, so that write() and read() need no address.
    must(connect(near, (struct sockaddr *)&far_address, sizeof far_address), "connect");
    must(connect(far, (struct sockaddr *)&near_address, sizeof near_address), "connect");
    client = (struct end){.in = near, .out = near};
    server = (struct end){.in = far, .out = far};
    peer_start(self, serve);
}

CIRCLE("pipe.round_trip.same.equal") = {
    .title = "Round trip over two pipes, same space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_pipe,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("pipe.round_trip.same.client_higher") = {
    .title = "Round trip over two pipes, same space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, SAME_SPACE),
    .setup = set_up_pipe,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("pipe.round_trip.same.server_higher") = {
    .title = "Round trip over two pipes, same space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, SAME_SPACE),
    .setup = set_up_pipe,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("pipe.round_trip.cross.equal") = {
    .title = "Round trip over two pipes, cross space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_pipe,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("pipe.round_trip.cross.client_higher") = {
    .title = "Round trip over two pipes, cross space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, CROSS_SPACE),
    .setup = set_up_pipe,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("pipe.round_trip.cross.server_higher") = {
    .title = "Round trip over two pipes, cross space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    .setup = set_up_pipe,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

// Reading from a UNIX stream frees the writer's buffer, which wakes the writer if it sleeps on its
// socket. If the writer has the higher priority and already waits for the answer, it preempts the
// reader, finds nothing and sleeps again.
#define STREAM_CLIENT_HIGHER(space_)                                                     \
    .sequence = CYC_SEQUENCE("client: write request", "client: blocks in read",          \
                             "server: read takes the request, and wakes client",         \
                             "client: preempts server, finds nothing, blocks again",     \
                             "server: returns from read", "server: write reply",         \
                             "client: preempts server, returns from read"),              \
    .expect = CYC_EXPECT({"entries", 4}, {"switches", 4},                                \
                         {"space_switches", 2 * SPACE_SWITCHES(space_)}, {"wakeups", 2}, \
                         {"voluntary", 2}, {"involuntary", 0}, {"faults", 0}),           \
    .space = space_, .client = 51, .server = 50
#define STREAM_SERVER_HIGHER(space_)                                                          \
    .sequence = CYC_SEQUENCE(                                                                 \
        "client: write request", "server: preempts client, returns from read",                \
        "server: write reply", "server: blocks in read", "client: returns from write",        \
        "client: read takes the reply, and wakes server",                                     \
        "server: preempts client, finds nothing, blocks again", "client: returns from read"), \
    .expect = CYC_EXPECT({"entries", 4}, {"switches", 4},                                     \
                         {"space_switches", 2 * SPACE_SWITCHES(space_)}, {"wakeups", 2},      \
                         {"voluntary", 0}, {"involuntary", 2}, {"faults", 0}),                \
    .space = space_, .client = 50, .server = 51

CIRCLE("unix_stream.round_trip.same.equal") = {
    .title = "Round trip over a UNIX stream socket pair, same space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_unix_stream,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_stream.round_trip.same.client_higher") = {
    .title = "Round trip over a UNIX stream socket pair, same space, client of higher priority",
    .from = "client: before write",
    .to = "client: after read",
    STREAM_CLIENT_HIGHER(SAME_SPACE),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "1"}),
    .setup = set_up_unix_stream,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_stream.round_trip.same.server_higher") = {
    .title = "Round trip over a UNIX stream socket pair, same space, server of higher priority",
    .from = "client: before write",
    .to = "client: after read",
    STREAM_SERVER_HIGHER(SAME_SPACE),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "1"}),
    .setup = set_up_unix_stream,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_stream.round_trip.cross.equal") = {
    .title = "Round trip over a UNIX stream socket pair, cross space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_unix_stream,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_stream.round_trip.cross.client_higher") = {
    .title = "Round trip over a UNIX stream socket pair, cross space, client of higher priority",
    .from = "client: before write",
    .to = "client: after read",
    STREAM_CLIENT_HIGHER(CROSS_SPACE),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "1"}),
    .setup = set_up_unix_stream,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_stream.round_trip.cross.server_higher") = {
    .title = "Round trip over a UNIX stream socket pair, cross space, server of higher priority",
    .from = "client: before write",
    .to = "client: after read",
    STREAM_SERVER_HIGHER(CROSS_SPACE),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "1"}),
    .setup = set_up_unix_stream,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_datagram.round_trip.same.equal") = {
    .title = "Round trip over a UNIX datagram socket pair, same space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_unix_datagram,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_datagram.round_trip.same.client_higher") = {
    .title = "Round trip over a UNIX datagram socket pair, same space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, SAME_SPACE),
    .setup = set_up_unix_datagram,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_datagram.round_trip.same.server_higher") = {
    .title = "Round trip over a UNIX datagram socket pair, same space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, SAME_SPACE),
    .setup = set_up_unix_datagram,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_datagram.round_trip.cross.equal") = {
    .title = "Round trip over a UNIX datagram socket pair, cross space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_unix_datagram,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_datagram.round_trip.cross.client_higher") = {
    .title = "Round trip over a UNIX datagram socket pair, cross space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, CROSS_SPACE),
    .setup = set_up_unix_datagram,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_datagram.round_trip.cross.server_higher") = {
    .title = "Round trip over a UNIX datagram socket pair, cross space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    .setup = set_up_unix_datagram,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_seqpacket.round_trip.same.equal") = {
    .title = "Round trip over a UNIX seqpacket socket pair, same space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_unix_seqpacket,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_seqpacket.round_trip.same.client_higher") = {
    .title = "Round trip over a UNIX seqpacket socket pair, same space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, SAME_SPACE),
    .setup = set_up_unix_seqpacket,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_seqpacket.round_trip.same.server_higher") = {
    .title = "Round trip over a UNIX seqpacket socket pair, same space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, SAME_SPACE),
    .setup = set_up_unix_seqpacket,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_seqpacket.round_trip.cross.equal") = {
    .title = "Round trip over a UNIX seqpacket socket pair, cross space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_unix_seqpacket,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_seqpacket.round_trip.cross.client_higher") = {
    .title = "Round trip over a UNIX seqpacket socket pair, cross space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, CROSS_SPACE),
    .setup = set_up_unix_seqpacket,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("unix_seqpacket.round_trip.cross.server_higher") = {
    .title = "Round trip over a UNIX seqpacket socket pair, cross space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    .setup = set_up_unix_seqpacket,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("tcp.round_trip.same.equal") = {
    .title = "Round trip over TCP on the loopback interface, same space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_tcp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("tcp.round_trip.same.client_higher") = {
    .title = "Round trip over TCP on the loopback interface, same space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, SAME_SPACE),
    .setup = set_up_tcp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("tcp.round_trip.same.server_higher") = {
    .title = "Round trip over TCP on the loopback interface, same space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, SAME_SPACE),
    .setup = set_up_tcp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("tcp.round_trip.cross.equal") = {
    .title = "Round trip over TCP on the loopback interface, cross space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_tcp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("tcp.round_trip.cross.client_higher") = {
    .title =
        "Round trip over TCP on the loopback interface, cross space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, CROSS_SPACE),
    .setup = set_up_tcp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("tcp.round_trip.cross.server_higher") = {
    .title =
        "Round trip over TCP on the loopback interface, cross space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    .setup = set_up_tcp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("udp.round_trip.same.equal") = {
    .title = "Round trip over UDP on the loopback interface, same space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_udp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("udp.round_trip.same.client_higher") = {
    .title = "Round trip over UDP on the loopback interface, same space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, SAME_SPACE),
    .setup = set_up_udp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("udp.round_trip.same.server_higher") = {
    .title = "Round trip over UDP on the loopback interface, same space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, SAME_SPACE),
    .setup = set_up_udp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("udp.round_trip.cross.equal") = {
    .title = "Round trip over UDP on the loopback interface, cross space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_udp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("udp.round_trip.cross.client_higher") = {
    .title =
        "Round trip over UDP on the loopback interface, cross space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, CROSS_SPACE),
    .setup = set_up_udp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("udp.round_trip.cross.server_higher") = {
    .title =
        "Round trip over UDP on the loopback interface, cross space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    .setup = set_up_udp,
    .turns = round_trips,
    .variant = &(const size_t){1},
};

CIRCLE("eventfd.round_trip.same.equal") = {
    .title = "Round trip over two eventfds, same space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "8"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_eventfd,
    .turns = round_trips,
    .variant = &(const size_t){8},
};

CIRCLE("eventfd.round_trip.same.client_higher") = {
    .title = "Round trip over two eventfds, same space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "8"}),
    CLIENT_HIGHER(4, SAME_SPACE),
    .setup = set_up_eventfd,
    .turns = round_trips,
    .variant = &(const size_t){8},
};

CIRCLE("eventfd.round_trip.same.server_higher") = {
    .title = "Round trip over two eventfds, same space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "8"}),
    SERVER_HIGHER(4, SAME_SPACE),
    .setup = set_up_eventfd,
    .turns = round_trips,
    .variant = &(const size_t){8},
};

CIRCLE("eventfd.round_trip.cross.equal") = {
    .title = "Round trip over two eventfds, cross space, equal priorities",
    ROUND_TRIP_EQUAL("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "8"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_eventfd,
    .turns = round_trips,
    .variant = &(const size_t){8},
};

CIRCLE("eventfd.round_trip.cross.client_higher") = {
    .title = "Round trip over two eventfds, cross space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "8"}),
    CLIENT_HIGHER(4, CROSS_SPACE),
    .setup = set_up_eventfd,
    .turns = round_trips,
    .variant = &(const size_t){8},
};

CIRCLE("eventfd.round_trip.cross.server_higher") = {
    .title = "Round trip over two eventfds, cross space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("write", "read"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "8"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    .setup = set_up_eventfd,
    .turns = round_trips,
    .variant = &(const size_t){8},
};
