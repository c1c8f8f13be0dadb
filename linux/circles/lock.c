// SPDX-License-Identifier: BSD-2-Clause
//
// Locks: the C library's mutexes free and handed over, and two locks of our own that enter the kernel only
// when they must: the three-state futex lock, and a scheduler lock that only threads of one CPU share.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "contract.h"
#include "futex.h"
#include "rseq.h"

static pthread_mutex_t mutex;
static sem_t go; // lets the server come for the mutex

// A row's `size` is its kind.
enum kind { NORMAL, RECURSIVE, PI, ROBUST };

static void make_mutex(const struct circle *self)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (self->size == RECURSIVE)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    if (self->size == PI)
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (self->size == ROBUST)
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (pthread_mutex_init(&mutex, &attributes) != 0)
        circle_skip("this C library or kernel has no mutex of that kind");
}

// A second thread must be alive: with one alone the C library leaves atomic instructions out.
static void sleep_for_ever(const struct circle *self)
{
    (void)self;
    for (;;)
        pause();
}

static void set_up_uncontended(const struct circle *self)
{
    make_mutex(self);
    peer_start(self, sleep_for_ever);
}

static void locks_and_unlocks(void *arg, uint64_t turns)
{
    (void)arg;
    CYC_SHORT_TURNS(turns, {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    })
}

static void serve_hand_over(const struct circle *self)
{
    (void)self;
    for (;;) {
        sem_wait(&go);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void set_up_hand_over(const struct circle *self)
{
    make_mutex(self);
    must(sem_init(&go, 0, 0), "sem_init");
    peer_start(self, serve_hand_over);
}

static void hand_overs(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        pthread_mutex_lock(&mutex);
        sem_post(&go); // the server comes and blocks on the mutex
        pthread_mutex_unlock(&mutex);
    }
}

// The three-state lock: free, held, held with sleepers. One atomic instruction each way while nobody
// contends; the kernel is asked only where somebody may sleep.
enum { FREE, HELD, SLEEPERS };
static _Atomic uint32_t word;

static inline void futex_lock(void)
{
    uint32_t seen = FREE;
    if (atomic_compare_exchange_strong_explicit(&word, &seen, HELD, memory_order_acquire, memory_order_relaxed))
        return;
    outcomes->contended++;
    while (atomic_exchange_explicit(&word, SLEEPERS, memory_order_acquire) != FREE)
        futex_wait(&word, SLEEPERS, FUTEX_PRIVATE_FLAG);
}

static inline void futex_unlock(void)
{
    if (atomic_exchange_explicit(&word, FREE, memory_order_release) == SLEEPERS)
        futex_wake(&word, FUTEX_PRIVATE_FLAG);
}

static void futex_locks(void *arg, uint64_t turns)
{
    (void)arg;
    CYC_SHORT_TURNS(turns, {
        futex_lock();
        futex_unlock();
    })
}

static void serve_futex_lock(const struct circle *self)
{
    (void)self;
    for (;;) {
        sem_wait(&go);
        futex_lock();
        futex_unlock();
    }
}

static void set_up_futex_lock(const struct circle *self)
{
    must(sem_init(&go, 0, 0), "sem_init");
    peer_start(self, serve_futex_lock);
}

static void futex_hand_overs(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        futex_lock();
        sem_post(&go);
        futex_unlock();
    }
}

// The scheduler lock holds its owner's number, 0 while free. Its users share one CPU, so a sequence that
// the kernel restarts when it was interrupted does instead of an atomic instruction.
#define OWNER 1

static void set_up_rseq(const struct circle *self)
{
    (void)self;
    const char *missing = rseq_register();
    if (missing != NULL)
        circle_skip(missing);
}

static void rseq_locks(void *arg, uint64_t turns)
{
    static uint32_t owner;
    (void)arg;
    CYC_SHORT_TURNS(turns, {
        if (!rseq_replace(&owner, 0, OWNER))
            outcomes->contended++;
        if (!rseq_replace(&owner, OWNER, 0))
            outcomes->contended++;
    })
}

static void cas_locks(void *arg, uint64_t turns)
{
    static _Atomic uint32_t owner;
    (void)arg;
    CYC_SHORT_TURNS(turns, {
        uint32_t expected = 0;
        if (!atomic_compare_exchange_strong(&owner, &expected, OWNER))
            outcomes->contended++;
        expected = OWNER;
        if (!atomic_compare_exchange_strong(&owner, &expected, 0))
            outcomes->contended++;
    })
}

#define UNCONTENDED_MUTEX(name_, title_, kind_)                                                                        \
    SHORT("mutex." name_ ".uncontended", title_ ": lock and unlock, a second thread alive", "lock, unlock",            \
         EXPECT_ENTRIES(0), set_up_uncontended, locks_and_unlocks, kind_)

// Entries: the client's to let the server come and to wake it with the lock; the server's to wait for the
// lock, to unlock it (a lock it has waited for counts as contended) and to wait for its next turn.
#define HAND_OVER(key_, title_, contended_, setup_, turns_, kind_)                                                     \
    {                                                                                                                  \
        .contract = {.key = key_ ".hand_over",                                                                         \
                     .title = title_ ", handed over to a thread of higher priority",                                   \
                     .sequence = SEQUENCE("client: lock", "client: sem_post",                                          \
                                          "server: preempts client, blocks in lock", "client: unlock",                 \
                                          "server: preempts client, returns from lock", "server: unlock",              \
                                          "server: blocks in sem_wait", "client: returns from unlock"),                \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before lock",                                                                    \
                     .to = "client: after unlock",                                                                     \
                     .expect = EXPECT({"entries", 5}, {"switches", 4}, {"space_switches", 0}, {"wakeups", 2},          \
                                      {"involuntary", 2}, {"contended", contended_}, {"faults", 0}),                   \
                     .params = PARAMS({"space", "same"}, {"priority", "server_higher"}),                               \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, .size = kind_, PLACED(same, server_higher),                                  \
    }
#define MUTEX(name_, title_, kind_)                                                                                    \
    UNCONTENDED_MUTEX(name_, title_, kind_),                                                                           \
        HAND_OVER("mutex." name_, title_, 0, set_up_hand_over, hand_overs, kind_)

#define EXPECT_FREE EXPECT({"entries", 0}, {"switches", 0}, {"contended", 0}, {"faults", 0})

const struct circle lock_circles[] = {
    MUTEX("normal", "Mutex", NORMAL),
    MUTEX("recursive", "Recursive mutex", RECURSIVE),
    MUTEX("pi", "Priority-inheritance mutex", PI),
    MUTEX("robust", "Robust mutex", ROBUST),
    SHORT("futex_lock.uncontended", "Our own three-state futex lock: lock and unlock", "lock, unlock", EXPECT_FREE,
         NULL, futex_locks, 0),
    HAND_OVER("futex_lock", "Our own three-state futex lock", 1, set_up_futex_lock, futex_hand_overs, 0),
    SHORT("scheduler_lock.rseq", "Lock of one CPU's threads by restartable sequences: take and release",
         "take, release", EXPECT_FREE, set_up_rseq, rseq_locks, 0),
    SHORT("scheduler_lock.cas", "Lock of one CPU's threads by compare-and-swap: take and release", "take, release",
         EXPECT_FREE, NULL, cas_locks, 0),
    END_OF_FAMILY,
};
