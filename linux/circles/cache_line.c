// SPDX-License-Identifier: BSD-2-Clause
//
// The floor of all that two CPUs do together: a cache line that goes to the other one and back.
// Also two counters in one line, each written by one CPU only (false sharing), and the same in two.
#define _GNU_SOURCE
#include "contract.h"
#include "spin.h"

#define LINE_BYTES 64

static struct lines {
    // Whose turn it is: odd numbers are the server's.
    _Alignas(2 * LINE_BYTES) _Atomic uint64_t turn;
    _Alignas(2 * LINE_BYTES) _Atomic uint64_t mine;
    _Atomic uint64_t beside;
    _Alignas(2 * LINE_BYTES) _Atomic uint64_t apart;
} *lines;

static void serve_stores(const struct linux_circle *self)
{
    (void)self;
    for (uint64_t next = 1;; next += 2) {
        SPIN_UNTIL(atomic_load_explicit(&lines->turn, memory_order_acquire) == next)
        atomic_store_explicit(&lines->turn, next + 1, memory_order_release);
    }
}

static void stores(void *arg, uint64_t turns)
{
    (void)arg;
    uint64_t next = atomic_load_explicit(&lines->turn, memory_order_relaxed);
    for (; turns > 0; turns--, next += 2) {
        atomic_store_explicit(&lines->turn, next + 1, memory_order_release);
        SPIN_UNTIL(atomic_load_explicit(&lines->turn, memory_order_acquire) == next + 2)
    }
}

static void serve_additions(const struct linux_circle *self)
{
    (void)self;
    for (uint64_t next = 1;; next += 2) {
        SPIN_UNTIL(atomic_load_explicit(&lines->turn, memory_order_relaxed) == next)
        atomic_fetch_add(&lines->turn, 1);
    }
}

static void additions(void *arg, uint64_t turns)
{
    (void)arg;
    uint64_t next = atomic_load_explicit(&lines->turn, memory_order_relaxed);
    for (; turns > 0; turns--, next += 2) {
        atomic_fetch_add(&lines->turn, 1);
        SPIN_UNTIL(atomic_load_explicit(&lines->turn, memory_order_relaxed) == next + 2)
    }
}

// The server writes its counter as long as the client does, and rests when the client's stays.
static void serve_counting(_Atomic uint64_t *counter)
{
    for (;;) {
        uint64_t seen = atomic_load_explicit(&lines->mine, memory_order_relaxed);
        for (int i = 0; i < 1000; i++)
            atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
        SPIN_UNTIL(atomic_load_explicit(&lines->mine, memory_order_relaxed) != seen)
    }
}

static void serve_beside(const struct linux_circle *self)
{
    (void)self;
    serve_counting(&lines->beside);
}

static void serve_apart(const struct linux_circle *self)
{
    (void)self;
    serve_counting(&lines->apart);
}

static void count(void *arg, uint64_t turns)
{
    (void)arg;
    CYC_SHORT_TURNS(turns, { atomic_fetch_add_explicit(&lines->mine, 1, memory_order_relaxed); })
}

static void set_up(const struct linux_circle *self)
{
    void (*const *body)(const struct linux_circle *) = self->variant;
    lines = shared_alloc(sizeof *lines);
    peer_start(self, *body);
}

typedef void body_fn(const struct linux_circle *self);
#define PING_PONG(what)                                                                       \
    .sequence =                                                                               \
        CYC_SEQUENCE("client: " what, "server: sees it", "server: " what, "client: sees it"), \
    .from = "client: before " what, .to = "client: after it sees the server's", SPINNING,     \
    .setup = set_up
#define COUNTING                                                                                  \
    .sequence = CYC_SEQUENCE("client: adds 1", "server: adds 1 to its own all the time"),         \
    .from = "client: before addition", .to = "client: after addition", SPINNING, .setup = set_up, \
    .turns = count

CIRCLE("cache_line.ping_pong.store.other_cpu") = {
    .title = "A cache line to another CPU and back, by plain stores and loads",
    PING_PONG("store"),
    .turns = stores,
    .variant = &(body_fn *const){serve_stores},
};

CIRCLE("cache_line.ping_pong.add.other_cpu") = {
    .title = "A cache line to another CPU and back, by atomic additions",
    PING_PONG("atomic addition"),
    .turns = additions,
    .variant = &(body_fn *const){serve_additions},
};

CIRCLE("cache_line.add.shared.other_cpu") = {
    .title = "Atomic addition to a counter beside which another CPU counts (false sharing)",
    COUNTING,
    .params = CYC_PARAMS({"lines", "1"}, {"turns_a_branch", "16"}),
    .variant = &(body_fn *const){serve_beside},
};

CIRCLE("cache_line.add.apart.other_cpu") = {
    .title = "Atomic addition to a counter while another CPU counts two lines away",
    COUNTING,
    .params = CYC_PARAMS({"lines", "2"}, {"turns_a_branch", "16"}),
    .variant = &(body_fn *const){serve_apart},
};
