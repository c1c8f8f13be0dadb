// SPDX-License-Identifier: BSD-2-Clause
//
// Locks between two CPUs: a ticket lock and an MCS lock, which spin, and a futex lock of our own
// and the C library's mutexes and read-write lock, which enter the kernel where they must. Each is
// handed over (each side takes the lock in turn) and contended (both take it as often as they can;
// a turn is one time that the client has it). MCS: Mellor-Crummey, Scott, Algorithms for scalable
// synchronization on shared-memory multiprocessors, 1991.
#define _GNU_SOURCE
#include <pthread.h>

#include "contract.h"
#include "futex_lock.h"
#include "spin.h"

#define LINE_BYTES 128

// A side's place in the queue of an MCS lock.
struct place {
    _Alignas(LINE_BYTES) _Atomic(struct place *) next;
    _Atomic uint32_t waits;
};

static struct board {
    _Alignas(LINE_BYTES) _Atomic uint32_t tickets;
    _Atomic uint32_t served;
    _Alignas(LINE_BYTES) _Atomic(struct place *) last;
    struct place client, server;
    _Alignas(LINE_BYTES) _Atomic uint32_t word;   // a futex_lock
    _Alignas(LINE_BYTES) _Atomic uint64_t turn;   // who takes the lock next: odd numbers the server
    _Alignas(LINE_BYTES) _Atomic uint64_t rounds; // of the client
    _Alignas(LINE_BYTES) uint64_t guarded;
} *board;

static void ticket_lock(struct place *place)
{
    (void)place;
    uint32_t mine = atomic_fetch_add_explicit(&board->tickets, 1, memory_order_relaxed);
    SPIN_UNTIL(atomic_load_explicit(&board->served, memory_order_acquire) == mine)
}

static void ticket_unlock(struct place *place)
{
    (void)place;
    uint32_t served = atomic_load_explicit(&board->served, memory_order_relaxed);
    atomic_store_explicit(&board->served, served + 1, memory_order_release);
}

static void mcs_lock(struct place *place)
{
    atomic_store_explicit(&place->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&place->waits, 1, memory_order_relaxed);
    struct place *before = atomic_exchange_explicit(&board->last, place, memory_order_acq_rel);
    if (before == NULL)
        return;
    atomic_store_explicit(&before->next, place, memory_order_release);
    SPIN_UNTIL(atomic_load_explicit(&place->waits, memory_order_acquire) == 0)
}

static void mcs_unlock(struct place *place)
{
    struct place *next = atomic_load_explicit(&place->next, memory_order_acquire);
    struct place *mine = place;
    if (next == NULL) {
        if (atomic_compare_exchange_strong_explicit(&board->last, &mine, NULL, memory_order_release,
                                                    memory_order_relaxed))
            return;
        SPIN_UNTIL((next = atomic_load_explicit(&place->next, memory_order_acquire)) != NULL)
    }
    atomic_store_explicit(&next->waits, 0, memory_order_release);
}

static void word_lock(struct place *place)
{
    (void)place;
    futex_lock(&board->word);
}

static void word_unlock(struct place *place)
{
    (void)place;
    futex_unlock(&board->word);
}

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock;

static void make_nothing(void)
{
}

static void make_mutex(void)
{
    pthread_mutex_init(&mutex, NULL);
}

// Some C libraries accept an attribute and refuse the mutex.
static void make_mutex_with(const pthread_mutexattr_t *attributes)
{
    if (pthread_mutex_init(&mutex, attributes) != 0)
        circle_skip("this C library or kernel has no mutex of that kind");
}

static void make_recursive_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    make_mutex_with(&attributes);
}

static void make_pi_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    make_mutex_with(&attributes);
}

static void make_robust_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    make_mutex_with(&attributes);
}

static void mutex_lock(struct place *place)
{
    (void)place;
    pthread_mutex_lock(&mutex);
}

static void mutex_unlock(struct place *place)
{
    (void)place;
    pthread_mutex_unlock(&mutex);
}

static void make_rwlock(void)
{
    pthread_rwlock_init(&rwlock, NULL);
}

static void write_lock(struct place *place)
{
    (void)place;
    pthread_rwlock_wrlock(&rwlock);
}

static void write_unlock(struct place *place)
{
    (void)place;
    pthread_rwlock_unlock(&rwlock);
}

// The variant of every circle here.
struct kind {
    void (*make)(void);
    void (*lock)(struct place *place);
    void (*unlock)(struct place *place);
};
static const struct kind ticket = {make_nothing, ticket_lock, ticket_unlock};
static const struct kind mcs = {make_nothing, mcs_lock, mcs_unlock};
static const struct kind three_state = {make_nothing, word_lock, word_unlock};
static const struct kind normal = {make_mutex, mutex_lock, mutex_unlock};
static const struct kind recursive = {make_recursive_mutex, mutex_lock, mutex_unlock};
static const struct kind inheriting = {make_pi_mutex, mutex_lock, mutex_unlock};
static const struct kind robust = {make_robust_mutex, mutex_lock, mutex_unlock};
static const struct kind writers = {make_rwlock, write_lock, write_unlock};

static void serve_handed(const struct linux_circle *self)
{
    const struct kind kind = *(const struct kind *)self->variant;
    for (uint64_t next = 1;; next += 2) {
        SPIN_UNTIL(atomic_load_explicit(&board->turn, memory_order_relaxed) == next)
        kind.lock(&board->server);
        board->guarded++;
        atomic_store_explicit(&board->turn, next + 1, memory_order_relaxed);
        kind.unlock(&board->server);
    }
}

static void handed(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    const struct kind kind = *(const struct kind *)self->variant;
    uint64_t next = atomic_load_explicit(&board->turn, memory_order_relaxed);
    for (; turns > 0; turns--, next += 2) {
        kind.lock(&board->client);
        board->guarded++;
        atomic_store_explicit(&board->turn, next + 1, memory_order_relaxed);
        kind.unlock(&board->client);
        SPIN_UNTIL(atomic_load_explicit(&board->turn, memory_order_relaxed) == next + 2)
    }
}

// It takes part as long as the client does.
static void serve_contended(const struct linux_circle *self)
{
    const struct kind kind = *(const struct kind *)self->variant;
    for (;;) {
        uint64_t seen = atomic_load_explicit(&board->rounds, memory_order_relaxed);
        for (int i = 0; i < 100; i++) {
            kind.lock(&board->server);
            board->guarded++;
            kind.unlock(&board->server);
        }
        SPIN_UNTIL(atomic_load_explicit(&board->rounds, memory_order_relaxed) != seen)
    }
}

static void contended(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    const struct kind kind = *(const struct kind *)self->variant;
    uint64_t rounds = atomic_load_explicit(&board->rounds, memory_order_relaxed);
    for (; turns > 0; turns--) {
        kind.lock(&board->client);
        board->guarded++;
        kind.unlock(&board->client);
        atomic_store_explicit(&board->rounds, ++rounds, memory_order_relaxed);
    }
}

static void make(const struct linux_circle *self)
{
    const struct kind *kind = self->variant;
    board = shared_alloc(sizeof *board);
    kind->make();
}

static void set_up_handed(const struct linux_circle *self)
{
    make(self);
    peer_start(self, serve_handed);
}

static void set_up_contended(const struct linux_circle *self)
{
    make(self);
    peer_start(self, serve_contended);
}

#define HANDED                                                                          \
    .sequence = CYC_SEQUENCE("client: lock", "client: calls server", "client: unlock",  \
                             "server: lock", "server: calls client", "server: unlock"), \
    .from = "client: before lock", .to = "client: after it sees the server's call",     \
    .setup = set_up_handed, .turns = handed
#define CONTENDED                                                                                \
    .sequence =                                                                                  \
        CYC_SEQUENCE("client: lock, while server takes and releases it, too", "client: unlock"), \
    .from = "client: before lock", .to = "client: after unlock", .setup = set_up_contended,      \
    .turns = contended
// How often a side enters the kernel and sleeps there is a race.
#define SLEEPING                                                                               \
    .expect = CYC_EXPECT({"faults", 0}, {"elsewhere", 0}), .placement = OTHER_CPU, .spins = 1, \
    .client = 50, .server = 50

CIRCLE("spin_lock.ticket.hand_over.other_cpu") = {
    .title = "Ticket lock, taken by two CPUs in turn",
    HANDED,
    SPINNING,
    .variant = &ticket,
};

CIRCLE("spin_lock.ticket.contended.other_cpu") = {
    .title = "Ticket lock, taken by two CPUs as often as they can",
    CONTENDED,
    SPINNING,
    .variant = &ticket,
};

CIRCLE("spin_lock.mcs.hand_over.other_cpu") = {
    .title = "MCS lock, taken by two CPUs in turn",
    HANDED,
    SPINNING,
    .variant = &mcs,
};

CIRCLE("spin_lock.mcs.contended.other_cpu") = {
    .title = "MCS lock, taken by two CPUs as often as they can",
    CONTENDED,
    SPINNING,
    .variant = &mcs,
};

CIRCLE("futex_lock.hand_over.other_cpu") = {
    .title = "Our own three-state futex lock, taken by two CPUs in turn",
    HANDED,
    SLEEPING,
    .variant = &three_state,
};

CIRCLE("futex_lock.contended.other_cpu") = {
    .title = "Our own three-state futex lock, taken by two CPUs as often as they can",
    CONTENDED,
    SLEEPING,
    .variant = &three_state,
};

CIRCLE("mutex.normal.hand_over.other_cpu") = {
    .title = "Mutex, taken by two CPUs in turn",
    HANDED,
    SLEEPING,
    .variant = &normal,
};

CIRCLE("mutex.normal.contended.other_cpu") = {
    .title = "Mutex, taken by two CPUs as often as they can",
    CONTENDED,
    SLEEPING,
    .variant = &normal,
};

CIRCLE("mutex.recursive.hand_over.other_cpu") = {
    .title = "Recursive mutex, taken by two CPUs in turn",
    HANDED,
    SLEEPING,
    .variant = &recursive,
};

CIRCLE("mutex.recursive.contended.other_cpu") = {
    .title = "Recursive mutex, taken by two CPUs as often as they can",
    CONTENDED,
    SLEEPING,
    .variant = &recursive,
};

CIRCLE("mutex.pi.hand_over.other_cpu") = {
    .title = "Priority-inheritance mutex, taken by two CPUs in turn",
    HANDED,
    SLEEPING,
    .variant = &inheriting,
};

CIRCLE("mutex.pi.contended.other_cpu") = {
    .title = "Priority-inheritance mutex, taken by two CPUs as often as they can",
    CONTENDED,
    SLEEPING,
    .variant = &inheriting,
};

CIRCLE("mutex.robust.hand_over.other_cpu") = {
    .title = "Robust mutex, taken by two CPUs in turn",
    HANDED,
    SLEEPING,
    .variant = &robust,
};

CIRCLE("mutex.robust.contended.other_cpu") = {
    .title = "Robust mutex, taken by two CPUs as often as they can",
    CONTENDED,
    SLEEPING,
    .variant = &robust,
};

CIRCLE("rwlock.write.hand_over.other_cpu") = {
    .title = "Read-write lock for writing, taken by two CPUs in turn",
    HANDED,
    SLEEPING,
    .variant = &writers,
};

CIRCLE("rwlock.write.contended.other_cpu") = {
    .title = "Read-write lock for writing, taken by two CPUs as often as they can",
    CONTENDED,
    SLEEPING,
    .variant = &writers,
};
