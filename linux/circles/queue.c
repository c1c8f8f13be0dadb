// SPDX-License-Identifier: BSD-2-Clause
//
// Round trips of one byte over two message queues, POSIX and System V.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <sys/msg.h>
#include <unistd.h>

#include "contract.h"

static mqd_t posix_request, posix_reply;
static int sysv_request, sysv_reply;

static void serve_posix(const struct linux_circle *self)
{
    char byte;
    (void)self;
    for (;;) {
        must(mq_receive(posix_request, &byte, 1, NULL), "mq_receive");
        must(mq_send(posix_reply, &byte, 1, 0), "mq_send");
    }
}

static void posix_round_trips(void *arg, uint64_t turns)
{
    char byte = 0;
    (void)arg;
    for (; turns > 0; turns--) {
        must(mq_send(posix_request, &byte, 1, 0), "mq_send");
        must(mq_receive(posix_reply, &byte, 1, NULL), "mq_receive");
    }
}

// The name is removed at once, so that nothing else uses it; the queue lives as long as its
// descriptors.
static mqd_t posix_queue(const char *direction)
{
    // One message is in flight at a time.
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    char name[48];
    snprintf(name, sizeof name, "/cyclometer-%s-%d", direction, getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
    if (queue == (mqd_t)-1 && errno == ENOSYS)
        circle_skip("this kernel has no POSIX message queues; build it with CONFIG_POSIX_MQUEUE");
    must(queue, "mq_open");
    mq_unlink(name);
    return queue;
}

static void set_up_posix(const struct linux_circle *self)
{
    posix_request = posix_queue("request");
    posix_reply = posix_queue("reply");
    peer_start(self, serve_posix);
}

struct message {
    long type; // > 0
    char byte;
};

static void serve_sysv(const struct linux_circle *self)
{
    struct message message;
    (void)self;
    for (;;) {
        must(msgrcv(sysv_request, &message, 1, 0, 0), "msgrcv");
        must(msgsnd(sysv_reply, &message, 1, 0), "msgsnd");
    }
}

static void sysv_round_trips(void *arg, uint64_t turns)
{
    struct message message = {.type = 1};
    (void)arg;
    for (; turns > 0; turns--) {
        must(msgsnd(sysv_request, &message, 1, 0), "msgsnd");
        must(msgrcv(sysv_reply, &message, 1, 0, 0), "msgrcv");
    }
}

static int sysv_queue(void)
{
    int id = msgget(IPC_PRIVATE, 0600);
    if (id < 0 && errno == ENOSYS)
        circle_skip("this kernel has no System V message queues; build it with CONFIG_SYSVIPC");
    must(id, "msgget");
    // These objects outlive the process.
    circle_remove_sysv('m', id);
    return id;
}

static void set_up_sysv(const struct linux_circle *self)
{
    sysv_request = sysv_queue();
    sysv_reply = sysv_queue();
    peer_start(self, serve_sysv);
}

CIRCLE("posix_queue.round_trip.same.equal") = {
    .title = "Round trip over two POSIX message queues, same space, equal priorities",
    ROUND_TRIP_EQUAL("mq_send", "mq_receive"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_posix,
    .turns = posix_round_trips,
};

CIRCLE("posix_queue.round_trip.same.client_higher") = {
    .title = "Round trip over two POSIX message queues, same space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("mq_send", "mq_receive"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, SAME_SPACE),
    .setup = set_up_posix,
    .turns = posix_round_trips,
};

CIRCLE("posix_queue.round_trip.same.server_higher") = {
    .title = "Round trip over two POSIX message queues, same space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("mq_send", "mq_receive"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, SAME_SPACE),
    .setup = set_up_posix,
    .turns = posix_round_trips,
};

CIRCLE("posix_queue.round_trip.cross.equal") = {
    .title = "Round trip over two POSIX message queues, cross space, equal priorities",
    ROUND_TRIP_EQUAL("mq_send", "mq_receive"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_posix,
    .turns = posix_round_trips,
};

CIRCLE("posix_queue.round_trip.cross.client_higher") = {
    .title = "Round trip over two POSIX message queues, cross space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("mq_send", "mq_receive"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, CROSS_SPACE),
    .setup = set_up_posix,
    .turns = posix_round_trips,
};

CIRCLE("posix_queue.round_trip.cross.server_higher") = {
    .title = "Round trip over two POSIX message queues, cross space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("mq_send", "mq_receive"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    .setup = set_up_posix,
    .turns = posix_round_trips,
};

CIRCLE("sysv_queue.round_trip.same.equal") = {
    .title = "Round trip over two System V message queues, same space, equal priorities",
    ROUND_TRIP_EQUAL("msgsnd", "msgrcv"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_sysv,
    .turns = sysv_round_trips,
};

CIRCLE("sysv_queue.round_trip.same.client_higher") = {
    .title = "Round trip over two System V message queues, same space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("msgsnd", "msgrcv"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, SAME_SPACE),
    .setup = set_up_sysv,
    .turns = sysv_round_trips,
};

CIRCLE("sysv_queue.round_trip.same.server_higher") = {
    .title = "Round trip over two System V message queues, same space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("msgsnd", "msgrcv"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, SAME_SPACE),
    .setup = set_up_sysv,
    .turns = sysv_round_trips,
};

CIRCLE("sysv_queue.round_trip.cross.equal") = {
    .title = "Round trip over two System V message queues, cross space, equal priorities",
    ROUND_TRIP_EQUAL("msgsnd", "msgrcv"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"bytes", "1"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_sysv,
    .turns = sysv_round_trips,
};

CIRCLE("sysv_queue.round_trip.cross.client_higher") = {
    .title = "Round trip over two System V message queues, cross space, client of higher priority",
    ROUND_TRIP_CLIENT_HIGHER("msgsnd", "msgrcv"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"bytes", "1"}),
    CLIENT_HIGHER(4, CROSS_SPACE),
    .setup = set_up_sysv,
    .turns = sysv_round_trips,
};

CIRCLE("sysv_queue.round_trip.cross.server_higher") = {
    .title = "Round trip over two System V message queues, cross space, server of higher priority",
    ROUND_TRIP_SERVER_HIGHER("msgsnd", "msgrcv"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"bytes", "1"}),
    SERVER_HIGHER(4, CROSS_SPACE),
    .setup = set_up_sysv,
    .turns = sysv_round_trips,
};
