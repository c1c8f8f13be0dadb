// SPDX-License-Identifier: BSD-2-Clause
//
// Locks: the C library's mutexes, free and handed over, and two locks of this file that enter the
// kernel only when they must: a three-state futex lock, and a lock for threads of one CPU.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "contract.h"
#include "futex_lock.h"
#include "rseq.h"

static pthread_mutex_t mutex;
static sem_t go; // makes the server try to take the mutex

enum kind { NORMAL, RECURSIVE, PRIORITY_INHERITANCE, ROBUST };

static void make_mutex(const struct linux_circle *self)
{
    enum kind kind = *(const enum kind *)self->variant;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    // A normal mutex keeps the default: naming its kind would change the code that glibc takes.
    if (kind == RECURSIVE)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    if (kind == PRIORITY_INHERITANCE)
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (kind == ROBUST)
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    // Some C libraries accept an attribute and refuse the mutex.
    if (pthread_mutex_init(&mutex, &attributes) != 0)
        circle_skip("this C library or kernel has no mutex of that kind");
}

// A second thread must exist: without one the C library uses no atomic instructions.
static void sleep_for_ever(const struct linux_circle *self)
{
    (void)self;
    for (;;)
        pause();
}

static void set_up_uncontended(const struct linux_circle *self)
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

static void serve_hand_over(const struct linux_circle *self)
{
    (void)self;
    for (;;) {
        sem_wait(&go);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void set_up_hand_over(const struct linux_circle *self)
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
        sem_post(&go); // the server preempts us and blocks on the mutex
        pthread_mutex_unlock(&mutex);
    }
}

static _Atomic uint32_t word; // a futex_lock

static inline void lock_word(void)
{
    if (futex_lock(&word))
        outcomes->contended++;
}

static void futex_locks(void *arg, uint64_t turns)
{
    (void)arg;
    CYC_SHORT_TURNS(turns, {
        lock_word();
        futex_unlock(&word);
    })
}

static void serve_futex_lock(const struct linux_circle *self)
{
    (void)self;
    for (;;) {
        sem_wait(&go);
        lock_word();
        futex_unlock(&word);
    }
}

static void set_up_futex_lock(const struct linux_circle *self)
{
    must(sem_init(&go, 0, 0), "sem_init");
    peer_start(self, serve_futex_lock);
}

static void futex_hand_overs(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        lock_word();
        sem_post(&go);
        futex_unlock(&word);
    }
}

// The scheduler lock holds its owner's number, or 0 if it is free. Its users share one CPU, so a
// sequence that the kernel restarts after an interruption can replace the atomic instruction.
#define OWNER 1

static void set_up_rseq(const struct linux_circle *self)
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

// The entries of a turn. Client: sem_post, and the unlock that wakes the server. Server: waiting
// for the lock, unlocking it (a lock that was waited for counts as contended), and sem_wait.
#define HAND_OVER(contended_)                                                                    \
    .sequence = CYC_SEQUENCE("client: lock", "client: sem_post",                                 \
                             "server: preempts client, blocks in lock", "client: unlock",        \
                             "server: preempts client, returns from lock", "server: unlock",     \
                             "server: blocks in sem_wait", "client: returns from unlock"),       \
    .from = "client: before lock", .to = "client: after unlock",                                 \
    .expect = CYC_EXPECT({"entries", 5}, {"switches", 4}, {"space_switches", 0}, {"wakeups", 2}, \
                         {"involuntary", 2}, {"contended", contended_}, {"faults", 0}),          \
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}), .client = 50,        \
    .server = 51

#define UNCONTENDED CYC_EXPECT({"entries", 0}, {"switches", 0}, {"contended", 0}, {"faults", 0})

CIRCLE("mutex.normal.uncontended") = {
    .title = "Mutex: lock and unlock, a second thread alive",
    ALONE("lock, unlock"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .setup = set_up_uncontended,
    .turns = locks_and_unlocks,
    .variant = &(const enum kind){NORMAL},
};

CIRCLE("mutex.normal.hand_over") = {
    .title = "Mutex, handed over to a thread of higher priority",
    HAND_OVER(0),
    .setup = set_up_hand_over,
    .turns = hand_overs,
    .variant = &(const enum kind){NORMAL},
};

CIRCLE("mutex.recursive.uncontended") = {
    .title = "Recursive mutex: lock and unlock, a second thread alive",
    ALONE("lock, unlock"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .setup = set_up_uncontended,
    .turns = locks_and_unlocks,
    .variant = &(const enum kind){RECURSIVE},
};

CIRCLE("mutex.recursive.hand_over") = {
    .title = "Recursive mutex, handed over to a thread of higher priority",
    HAND_OVER(0),
    .setup = set_up_hand_over,
    .turns = hand_overs,
    .variant = &(const enum kind){RECURSIVE},
};

CIRCLE("mutex.pi.uncontended") = {
    .title = "Priority-inheritance mutex: lock and unlock, a second thread alive",
    ALONE("lock, unlock"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .setup = set_up_uncontended,
    .turns = locks_and_unlocks,
    .variant = &(const enum kind){PRIORITY_INHERITANCE},
};

CIRCLE("mutex.pi.hand_over") = {
    .title = "Priority-inheritance mutex, handed over to a thread of higher priority",
    HAND_OVER(0),
    .setup = set_up_hand_over,
    .turns = hand_overs,
    .variant = &(const enum kind){PRIORITY_INHERITANCE},
};

CIRCLE("mutex.robust.uncontended") = {
    .title = "Robust mutex: lock and unlock, a second thread alive",
    ALONE("lock, unlock"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .setup = set_up_uncontended,
    .turns = locks_and_unlocks,
    .variant = &(const enum kind){ROBUST},
};

CIRCLE("mutex.robust.hand_over") = {
    .title = "Robust mutex, handed over to a thread of higher priority",
    HAND_OVER(0),
    .setup = set_up_hand_over,
    .turns = hand_overs,
    .variant = &(const enum kind){ROBUST},
};

CIRCLE("futex_lock.uncontended") = {
    .title = "Our own three-state futex lock: lock and unlock",
    ALONE("lock, unlock"),
    .expect = UNCONTENDED,
    .params = SHORT_LOOP,
    .turns = futex_locks,
};

CIRCLE("futex_lock.hand_over") = {
    .title = "Our own three-state futex lock, handed over to a thread of higher priority",
    HAND_OVER(1),
    .setup = set_up_futex_lock,
    .turns = futex_hand_overs,
};

CIRCLE("scheduler_lock.rseq") = {
    .title = "Lock of one CPU's threads by restartable sequences: take and release",
    ALONE("take, release"),
    .expect = UNCONTENDED,
    .params = SHORT_LOOP,
    .setup = set_up_rseq,
    .turns = rseq_locks,
};

CIRCLE("scheduler_lock.cas") = {
    .title = "Lock of one CPU's threads by compare-and-swap: take and release",
    ALONE("take, release"),
    .expect = UNCONTENDED,
    .params = SHORT_LOOP,
    .turns = cas_locks,
};
