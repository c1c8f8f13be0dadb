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

static void serve_posix(const struct circle *self)
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

// The name is gone before anyone else can use it; the queue lives as long as its descriptors.
static mqd_t posix_queue(const char *direction)
{
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

static void set_up_posix(const struct circle *self)
{
    posix_request = posix_queue("request");
    posix_reply = posix_queue("reply");
    peer_start(self, serve_posix);
}

struct message {
    long type; // > 0
    char byte;
};

static void serve_sysv(const struct circle *self)
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
    host_forget_sysv('m', id);
    return id;
}

static void set_up_sysv(const struct circle *self)
{
    sysv_request = sysv_queue();
    sysv_reply = sysv_queue();
    peer_start(self, serve_sysv);
}

#define QUEUE(object, title_, send, receive, setup_, turns_, space_, relation_)                                        \
    {                                                                                                                  \
        .contract = {.key = object ".round_trip." #space_ "." #relation_,                                              \
                     .title = "Round trip over two " title_ " message queues, " WORDS_##space_ ", " WORDS_##relation_, \
                     .sequence = ROUND_TRIP_##relation_(send, receive),                                                \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before " send,                                                                   \
                     .to = "client: after " receive,                                                                   \
                     .expect = EXPECT_ROUND_TRIP(4, space_, relation_),                                                \
                     .params = PARAMS({"space", #space_}, {"priority", #relation_}, {"bytes", "1"}),                   \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, PLACED(space_, relation_),                                                   \
    }
#define POSIX_QUEUE(space_, relation_)                                                                                 \
    QUEUE("posix_queue", "POSIX", "mq_send", "mq_receive", set_up_posix, posix_round_trips, space_, relation_)
#define SYSV_QUEUE(space_, relation_)                                                                                  \
    QUEUE("sysv_queue", "System V", "msgsnd", "msgrcv", set_up_sysv, sysv_round_trips, space_, relation_)

const struct circle queue_circles[] = {
    EVERYWHERE(POSIX_QUEUE),
    EVERYWHERE(SYSV_QUEUE),
    END_OF_FAMILY,
};
