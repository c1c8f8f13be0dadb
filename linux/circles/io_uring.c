// SPDX-License-Identifier: BSD-2-Clause
//
// io_uring by plain system calls: an operation that does nothing, and a round trip of messages from
// ring to ring. One io_uring_enter both submits and waits, so each side enters the kernel once.
// With SQPOLL a thread of the kernel takes submissions on another CPU.
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract.h"
#include "spin.h"

#define RING_ENTRIES 4
#define POLLS_MS 1000

// The two queues as the kernel maps them. One operation at a time is in flight, always in slot 0.
struct ring {
    int fd;
    _Atomic uint32_t *submit_tail, *submit_flags;
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

static struct ring make_ring_with(struct io_uring_params params)
{
    int fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &params);
    if (fd < 0)
        circle_skip("this kernel refuses io_uring_setup; see the sysctl kernel.io_uring_disabled");
    size_t submit_bytes = params.sq_off.array + params.sq_entries * sizeof(uint32_t);
    size_t complete_bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    char *submit = map_ring(fd, submit_bytes, IORING_OFF_SQ_RING);
    char *complete = map_ring(fd, complete_bytes, IORING_OFF_CQ_RING);
    uint32_t *order = (uint32_t *)(void *)(submit + params.sq_off.array);
    // Every place of the queue names slot 0.
    for (uint32_t i = 0; i < params.sq_entries; i++)
        order[i] = 0;
    return (struct ring){
        .fd = fd,
        .submit_tail = (_Atomic uint32_t *)(void *)(submit + params.sq_off.tail),
        .submit_flags = (_Atomic uint32_t *)(void *)(submit + params.sq_off.flags),
        .complete_head = (_Atomic uint32_t *)(void *)(complete + params.cq_off.head),
        .complete_tail = (_Atomic uint32_t *)(void *)(complete + params.cq_off.tail),
        .operation = map_ring(fd, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES),
    };
}

static struct ring make_ring(void)
{
    return make_ring_with((struct io_uring_params){0});
}

static void require(uint8_t operation, const char *missing)
{
    enum { OPERATIONS = 256 };
    static uint64_t room[2 + OPERATIONS]; // the probe's head, and eight bytes per operation
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

// Enters the kernel until there is a completion, and takes it off the queue.
static inline void enter(struct ring *ring, unsigned submitted)
{
    uint32_t head = atomic_load_explicit(ring->complete_head, memory_order_relaxed);
    do
        must(syscall(SYS_io_uring_enter, ring->fd, submitted, 1, IORING_ENTER_GETEVENTS, NULL, 0),
             "io_uring_enter");
    while (atomic_load_explicit(ring->complete_tail, memory_order_acquire) == head);
    atomic_store_explicit(ring->complete_head, head + 1, memory_order_release);
}

static void set_up_nop(const struct linux_circle *self)
{
    (void)self;
    client = make_ring();
    *client.operation = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .fd = -1};
}

// One submission and one completion per turn, whatever the operation is.
static void operations(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        submit(&client);
        enter(&client, 1);
    }
}

// The kernel's thread polls for longer than any pause between two tests, on the peers' CPU.
static void set_up_polled(const struct linux_circle *self)
{
    (void)self;
    client = make_ring_with((struct io_uring_params){
        .flags = IORING_SETUP_SQPOLL | IORING_SETUP_SQ_AFF,
        .sq_thread_cpu = (uint32_t)cpu_of(OTHER_CPU),
        .sq_thread_idle = POLLS_MS,
    });
    *client.operation = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .fd = -1};
}

// Hands an operation to the kernel's thread, which a machine may have kept from polling so long
// that it sleeps: then it is woken by a system call.
static inline void submit_polled(void)
{
    submit(&client);
    atomic_thread_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(client.submit_flags, memory_order_relaxed) &
                             IORING_SQ_NEED_WAKEUP,
                         0))
        must(syscall(SYS_io_uring_enter, client.fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0),
             "io_uring_enter");
}

static void polled_operations(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        uint32_t head = atomic_load_explicit(client.complete_head, memory_order_relaxed);
        submit_polled();
        SPIN_UNTIL(atomic_load_explicit(client.complete_tail, memory_order_acquire) != head)
        atomic_store_explicit(client.complete_head, head + 1, memory_order_release);
    }
}

static void awaited_operations(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        submit_polled();
        enter(&client, 0);
    }
}

static void serve(const struct linux_circle *self)
{
    (void)self;
    // The first time there is nothing to answer yet.
    for (enter(&server, 0);; enter(&server, 1))
        submit(&server);
}

// A message completes on the other ring; on the sender's only if it fails.
static struct io_uring_sqe message_to(const struct ring *other)
{
    return (struct io_uring_sqe){.opcode = IORING_OP_MSG_RING,
                                 .flags = IOSQE_CQE_SKIP_SUCCESS,
                                 .fd = other->fd,
                                 .addr = IORING_MSG_DATA,
                                 .len = 1,
                                 .off = 1};
}

static void set_up_message(const struct linux_circle *self)
{
    client = make_ring();
    server = make_ring();
    require(IORING_OP_MSG_RING,
            "this kernel's io_uring has no messages between rings; they came with Linux 5.18");
    *client.operation = message_to(&server);
    *server.operation = message_to(&client);
    peer_start(self, serve);
}

CIRCLE("io_uring.nop") = {
    .title = "An operation that does nothing, submitted and completed in one call",
    ALONE("io_uring_enter"),
    .expect = ENTRIES(1),
    .setup = set_up_nop,
    .turns = operations,
};

// Only with equal priorities: one call posts and waits, so with others the counts would depend on
// whether the kernel can be preempted within a system call.
#define MESSAGE                                                                    \
    .sequence = CYC_SEQUENCE("client: io_uring_enter posts a message and blocks",  \
                             "server: returns from io_uring_enter",                \
                             "server: io_uring_enter posts a message and blocks",  \
                             "client: returns from io_uring_enter"),               \
    .from = "client: before io_uring_enter", .to = "client: after io_uring_enter", \
    .setup = set_up_message, .turns = operations

CIRCLE("io_uring.message.same.equal") = {
    .title = "Round trip of messages between two io_urings, same space",
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"words", "2"}),
    MESSAGE,
    EQUAL(2, SAME_SPACE),
};

CIRCLE("io_uring.message.cross.equal") = {
    .title = "Round trip of messages between two io_urings, cross space",
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"words", "2"}),
    MESSAGE,
    EQUAL(2, CROSS_SPACE),
};

#define POLLED                                                                          \
    .from = "client: before it submits", .to = "client: after it takes the completion", \
    .params = CYC_PARAMS({"sqpoll", "on the peers' CPU"}), .setup = set_up_polled,      \
    .placement = OTHER_CPU, .spins = 1, .client = 50

CIRCLE("io_uring.nop.sqpoll.spinning.other_cpu") = {
    .title =
        "An operation that does nothing, taken by the kernel's thread on another CPU; the client "
        "polls for its completion",
    .sequence = CYC_SEQUENCE("client: submits in memory", "kernel's thread: completes in memory",
                             "client: sees the completion"),
    .expect = CYC_EXPECT({"entries", 0}, {"switches", 0}, {"faults", 0}),
    POLLED,
    .turns = polled_operations,
};

// Whether the completion is there before the client has gone to sleep is a race.
CIRCLE("io_uring.nop.sqpoll.waiting.other_cpu") = {
    .title =
        "An operation that does nothing, taken by the kernel's thread on another CPU; the client "
        "waits in a system call",
    .sequence = CYC_SEQUENCE("client: submits in memory", "client: io_uring_enter",
                             "kernel's thread: completes in memory, wakes client",
                             "client: returns from io_uring_enter"),
    .expect = CYC_EXPECT({"entries", 1}, {"involuntary", 0}, {"faults", 0}),
    POLLED,
    .turns = awaited_operations,
};
