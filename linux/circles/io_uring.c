// SPDX-License-Identifier: BSD-2-Clause
//
// io_uring by its own system calls: an operation that does nothing, and a round trip of messages posted
// from ring to ring. One io_uring_enter both submits and waits, so a side enters the kernel once.
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract.h"

#define RING_ENTRIES 4

// The two queues as the kernel maps them. Only one operation is ever in flight, always in slot 0.
struct ring {
    int fd;
    _Atomic uint32_t *submit_tail;
    _Atomic uint32_t *complete_head, *complete_tail;
    struct io_uring_sqe *operation;
};

static struct ring client, server;

static void *map_ring(int fd, size_t size, off_t offset)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
    if (memory == MAP_FAILED)
        circle_fail("mmap of an io_uring");
    return memory;
}

static struct ring make_ring(void)
{
    struct io_uring_params params = {0};
    int fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &params);
    if (fd < 0)
        circle_skip("this kernel refuses io_uring_setup; see the sysctl kernel.io_uring_disabled");
    size_t submit_bytes = params.sq_off.array + params.sq_entries * sizeof(uint32_t);
    size_t complete_bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    char *submit = map_ring(fd, submit_bytes, IORING_OFF_SQ_RING);
    char *complete = map_ring(fd, complete_bytes, IORING_OFF_CQ_RING);
    uint32_t *order = (uint32_t *)(void *)(submit + params.sq_off.array);
    for (uint32_t i = 0; i < params.sq_entries; i++)
        order[i] = 0;
    return (struct ring){
        .fd = fd,
        .submit_tail = (_Atomic uint32_t *)(void *)(submit + params.sq_off.tail),
        .complete_head = (_Atomic uint32_t *)(void *)(complete + params.cq_off.head),
        .complete_tail = (_Atomic uint32_t *)(void *)(complete + params.cq_off.tail),
        .operation = map_ring(fd, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES),
    };
}

static void require(uint8_t operation, const char *missing)
{
    enum { OPERATIONS = 256 };
    static uint64_t room[2 + OPERATIONS]; // the probe's head, and eight bytes an operation
    struct io_uring_probe *probe = (struct io_uring_probe *)(void *)room;
    _Static_assert(sizeof *probe == 16 && sizeof probe->ops[0] == 8, "as the kernel lays it out");
    if (syscall(SYS_io_uring_register, client.fd, IORING_REGISTER_PROBE, probe, OPERATIONS) != 0 ||
        probe->last_op < operation)
        circle_skip(missing);
}

static inline void submit(struct ring *ring)
{
    uint32_t tail = atomic_load_explicit(ring->submit_tail, memory_order_relaxed);
    atomic_store_explicit(ring->submit_tail, tail + 1, memory_order_release);
}

// Enters until a completion has come, and takes it off the queue.
static inline void enter(struct ring *ring, unsigned submitted)
{
    uint32_t head = atomic_load_explicit(ring->complete_head, memory_order_relaxed);
    do
        must(syscall(SYS_io_uring_enter, ring->fd, submitted, 1, IORING_ENTER_GETEVENTS, NULL, 0), "io_uring_enter");
    while (atomic_load_explicit(ring->complete_tail, memory_order_acquire) == head);
    atomic_store_explicit(ring->complete_head, head + 1, memory_order_release);
}

static void set_up_nop(const struct circle *self)
{
    (void)self;
    client = make_ring();
    *client.operation = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .fd = -1};
}

// One submission and one completion a turn, whatever the operation is.
static void operations(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        submit(&client);
        enter(&client, 1);
    }
}

static void serve(const struct circle *self)
{
    (void)self;
    for (enter(&server, 0);; enter(&server, 1))
        submit(&server);
}

// A message completes on the other ring only; the sender hears of it where it fails.
static struct io_uring_sqe message_to(const struct ring *other)
{
    return (struct io_uring_sqe){.opcode = IORING_OP_MSG_RING,
                                 .flags = IOSQE_CQE_SKIP_SUCCESS,
                                 .fd = other->fd,
                                 .addr = IORING_MSG_DATA,
                                 .len = 1,
                                 .off = 1};
}

static void set_up_message(const struct circle *self)
{
    client = make_ring();
    server = make_ring();
    require(IORING_OP_MSG_RING, "this kernel's io_uring has no messages between rings; they came with Linux 5.18");
    *client.operation = message_to(&server);
    *server.operation = message_to(&client);
    peer_start(self, serve);
}

// Only between equals: one call posts and waits, so what a message to a side of higher priority does depends on whether
// the kernel lets itself be preempted within a call.
#define MESSAGE(space_)                                                                                                \
    {                                                                                                                  \
        .contract = {.key = "io_uring.message." #space_ ".equal",                                                      \
                     .title = "Round trip of messages between two io_urings, " WORDS_##space_,                         \
                     .sequence = SEQUENCE("client: io_uring_enter posts a message and blocks",                         \
                                          "server: returns from io_uring_enter",                                       \
                                          "server: io_uring_enter posts a message and blocks",                         \
                                          "client: returns from io_uring_enter"),                                      \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before io_uring_enter",                                                          \
                     .to = "client: after io_uring_enter",                                                             \
                     .expect = EXPECT_ROUND_TRIP(2, space_, equal),                                                    \
                     .params = PARAMS({"space", #space_}, {"priority", "equal"}, {"words", "2"}),                      \
                     .correction = "none"},                                                                            \
        .setup = set_up_message, .turns = operations, PLACED(space_, equal),                                           \
    }

const struct circle io_uring_circles[] = {
    SOLO("io_uring.nop", "An operation that does nothing, submitted and completed in one call", "io_uring_enter",
         EXPECT_ENTRIES(1), set_up_nop, operations, 0),
    MESSAGE(same),
    MESSAGE(cross),
    END_OF_FAMILY,
};
