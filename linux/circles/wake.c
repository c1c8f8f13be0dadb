// SPDX-License-Identifier: BSD-2-Clause
//
// Notifications, semaphores and condition variables: one thread gives, another of higher priority
// takes. A turn: the taker preempts the giver inside its call, blocks again, and the giver's call
// returns. One-way circles time a part of the same turn. Semaphores also with nobody waiting.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/sem.h>
#include <unistd.h>

#include "contract.h"
#include "stamp.h"

// An eventfd stands for a notification: giving never blocks, and taking collects all gives.
static int notification;

static void notification_make(const struct linux_circle *self)
{
    (void)self;
    notification = (int)must(eventfd(0, EFD_CLOEXEC), "eventfd");
}

static void notification_give(void)
{
    const uint64_t one = 1;
    must(write(notification, &one, sizeof one), "write");
}

static void notification_take(void)
{
    uint64_t count;
    must(read(notification, &count, sizeof count), "read");
}

static sem_t *posix;

static void posix_make(const struct linux_circle *self)
{
    posix = shared_alloc(sizeof *posix);
    must(sem_init(posix, self->space == CROSS_SPACE, 0), "sem_init");
}

static void posix_give(void)
{
    must(sem_post(posix), "sem_post");
}

static void posix_take(void)
{
    must(sem_wait(posix), "sem_wait");
}

static int sysv;

static void sysv_make(const struct linux_circle *self)
{
    (void)self;
    sysv = semget(IPC_PRIVATE, 1, 0600);
    if (sysv < 0 && errno == ENOSYS)
        circle_skip("this kernel has no System V semaphores; build it with CONFIG_SYSVIPC");
    must(sysv, "semget");
    circle_remove_sysv('s', sysv);
}

static void sysv_give(void)
{
    must(semop(sysv, &(struct sembuf){.sem_op = 1}, 1), "semop");
}

static void sysv_take(void)
{
    must(semop(sysv, &(struct sembuf){.sem_op = -1}, 1), "semop");
}

static struct condition {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int given;
} *condition;

static void condition_make(const struct linux_circle *self)
{
    int shared = self->space == CROSS_SPACE ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
    pthread_mutexattr_t mutex_attributes;
    pthread_condattr_t changed_attributes;
    condition = shared_alloc(sizeof *condition);
    // Private ones take a cheaper futex, as a program of threads would.
    pthread_mutexattr_init(&mutex_attributes);
    pthread_mutexattr_setpshared(&mutex_attributes, shared);
    pthread_mutex_init(&condition->mutex, &mutex_attributes);
    pthread_condattr_init(&changed_attributes);
    pthread_condattr_setpshared(&changed_attributes, shared);
    pthread_cond_init(&condition->changed, &changed_attributes);
}

static void condition_give(void)
{
    pthread_mutex_lock(&condition->mutex);
    condition->given = 1;
    pthread_mutex_unlock(&condition->mutex);
    pthread_cond_signal(&condition->changed);
}

static void condition_give_holding(void)
{
    pthread_mutex_lock(&condition->mutex);
    condition->given = 1;
    pthread_cond_signal(&condition->changed);
    pthread_mutex_unlock(&condition->mutex);
}

static void condition_take(void)
{
    pthread_mutex_lock(&condition->mutex);
    // A condition variable may wake its waiter without reason.
    while (!condition->given)
        pthread_cond_wait(&condition->changed, &condition->mutex);
    condition->given = 0;
    pthread_mutex_unlock(&condition->mutex);
}

// What a circle gives and takes; the variant of every circle here.
struct object {
    void (*make)(const struct linux_circle *self);
    void (*give)(void);
    void (*take)(void);
};
static const struct object notification_object = {notification_make, notification_give,
                                                  notification_take};
static const struct object posix_semaphore = {posix_make, posix_give, posix_take};
static const struct object sysv_semaphore = {sysv_make, sysv_give, sysv_take};
static const struct object condition_variable = {condition_make, condition_give, condition_take};
static const struct object condition_held = {condition_make, condition_give_holding,
                                             condition_take};

static void serve(const struct linux_circle *self)
{
    const struct object *object = self->variant;
    void (*take)(void) = object->take;
    for (;;)
        take();
}

static void make(const struct linux_circle *self)
{
    const struct object *object = self->variant;
    object->make(self);
}

static void set_up(const struct linux_circle *self)
{
    make(self);
    peer_start(self, serve);
}

static void gives(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    const struct object *object = self->variant;
    void (*give)(void) = object->give;
    for (; turns > 0; turns--)
        give();
}

// The clock when the taker last returned from its call, and when it last entered it.
static struct stamps {
    struct stamp out;
    uint64_t in;
} *stamps;

static void serve_stamping(const struct linux_circle *self)
{
    const struct object *object = self->variant;
    void (*take)(void) = object->take;
    for (;;) {
        take();
        // A giver on the same CPU reads them when its call has returned.
        stamp_now(&stamps->out);
        stamps->in = clock_begin();
    }
}

static void set_up_stamping(const struct linux_circle *self)
{
    stamps = shared_alloc(sizeof *stamps);
    make(self);
    peer_start(self, serve_stamping);
}

static int64_t pass_give(void *arg)
{
    const struct linux_circle *self = arg;
    const struct object *object = self->variant;
    void (*give)(void) = object->give;
    uint64_t begin = clock_begin();
    give();
    return (int64_t)(stamps->out.clock - begin);
}

// The taker is on another CPU, which is idle when the giver calls: what that costs the giver alone,
// whose call returns while the taker wakes up.
static int64_t pass_return_elsewhere(void *arg)
{
    const struct linux_circle *self = arg;
    const struct object *object = self->variant;
    void (*give)(void) = object->give;
    peers_await();
    uint64_t begin = clock_begin();
    give();
    return (int64_t)(clock_end() - begin);
}

// The same until the taker has returned from its call.
static int64_t pass_give_elsewhere(void *arg)
{
    const struct linux_circle *self = arg;
    const struct object *object = self->variant;
    void (*give)(void) = object->give;
    peers_await();
    uint64_t taken = stamp_number(&stamps->out);
    uint64_t begin = clock_begin();
    give();
    return (int64_t)(stamp_after(&stamps->out, taken) - begin);
}

#define RESTS_PER_S 1000 // a rest lasts a millisecond

// The same after that CPU has been idle for so long that its kernel chooses a deep state.
static int64_t pass_give_rested(void *arg)
{
    peers_await();
    for (uint64_t began = clock_begin(); clock_begin() - began < clock_hz() / RESTS_PER_S;)
        relax();
    return pass_give_elsewhere(arg);
}

static int64_t pass_take(void *arg)
{
    const struct linux_circle *self = arg;
    const struct object *object = self->variant;
    object->give();
    return (int64_t)(clock_end() - stamps->in);
}

// With nobody waiting. A POSIX semaphore can be given more often than any visit does; the count of
// a System V semaphore ends at 32767, so there each give is followed by a take.
static void set_up_nobody(const struct linux_circle *self)
{
    make(self);
}

static void set_up_given(const struct linux_circle *self)
{
    posix = shared_alloc(sizeof *posix);
    must(sem_init(posix, self->space == CROSS_SPACE, SEM_VALUE_MAX), "sem_init");
}

static void posix_gives(void *arg, uint64_t turns)
{
    (void)arg;
    CYC_SHORT_TURNS(turns, { posix_give(); })
}

static void posix_takes(void *arg, uint64_t turns)
{
    (void)arg;
    CYC_SHORT_TURNS(turns, { posix_take(); })
}

static void sysv_gives_and_takes(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        sysv_give();
        sysv_take();
    }
}

// The entries of a turn: one of the giver and one of the taker. Condition variables need a third:
// glibc treats the mutex that pthread_cond_wait has reacquired as contended when it is unlocked.
#define WAKE(give, take)                                                                     \
    .sequence = CYC_SEQUENCE("client: " give, "server: preempts client, returns from " take, \
                             "server: blocks in " take, "client: returns from " give)
#define WHOLE(give, take, entries)                                                            \
    WAKE(give, take), .from = "client: before " give, .to = "client: after " give,            \
        .setup = set_up, .turns = gives, .elsewhere = &(const struct elsewhere)               \
    {                                                                                         \
        .sequence = CYC_SEQUENCE("client: " give, "client: returns from " give,               \
                                 "server: its CPU leaves idle", "server: returns from " take, \
                                 "server: blocks in " take),                                  \
        .expect = AWAKENED(entries), .pass = pass_return_elsewhere                            \
    }
#define TO_TAKER(give, take, entries)                                             \
    WAKE(give, take), .interval = ONE_WAY, .from = "client: before " give,        \
        .to = "server: after " take, .setup = set_up_stamping, .pass = pass_give, \
        .elsewhere = &(const struct elsewhere)                                    \
    {                                                                             \
        .sequence = CYC_SEQUENCE(WOKEN(give, take)), .expect = AWAKENED(entries), \
        .pass = pass_give_elsewhere                                               \
    }
#define WOKEN(give, take)                                                         \
    "client: " give, "server: its CPU leaves idle", "server: returns from " take, \
        "server: blocks in " take
// Only the server's CPU switches: from idle to the server, and back.
#define AWAKENED(entries)                                                                       \
    CYC_EXPECT({"entries", entries}, {"switches", 1}, {"cpu_switches", 0},                      \
               {"other_cpu_switches", 2}, {"wakeups", 1}, {"voluntary", 0}, {"involuntary", 0}, \
               {"faults", 0}, {"elsewhere", 0})
#define TO_GIVER(give, take)                                               \
    WAKE(give, take), .interval = ONE_WAY, .from = "server: before " take, \
        .to = "client: after " give, .setup = set_up_stamping, .pass = pass_take

CIRCLE("notification.low_to_high.same") = {
    .title = "Notification (eventfd) to a thread of higher priority, same space",
    WHOLE("write", "read", 2),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, SAME_SPACE),
    .variant = &notification_object,
};

CIRCLE("notification.low_to_high.cross") = {
    .title = "Notification (eventfd) to a thread of higher priority, cross space",
    WHOLE("write", "read", 2),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, CROSS_SPACE),
    .variant = &notification_object,
};

CIRCLE("notification.low_to_high.one_way.same") = {
    .title = "Notification (eventfd) to a thread of higher priority: from the giver's call to the "
             "taker running",
    TO_TAKER("write", "read", 2),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, SAME_SPACE),
    .variant = &notification_object,
};

CIRCLE("notification.low_to_high.one_way.cross") = {
    .title = "Notification (eventfd) to a thread of higher priority: from the giver's call to the "
             "taker running",
    TO_TAKER("write", "read", 2),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, CROSS_SPACE),
    .variant = &notification_object,
};

CIRCLE("wake.idle.rested_1ms.same.other_cpu") = {
    .title =
        "Notification (eventfd) to a thread on another CPU that has been idle for 1 ms: from the "
        "giver's call to the taker running",
    .sequence = CYC_SEQUENCE("client: computes for 1 ms", WOKEN("write", "read")),
    .interval = ONE_WAY,
    .from = "client: before write",
    .to = "server: after read",
    .expect = AWAKENED(2),
    .params = CYC_PARAMS({"space", "same"}, {"rest_us", "1000"}),
    .setup = set_up_stamping,
    .pass = pass_give_rested,
    .placement = OTHER_CPU,
    .client = 50,
    .server = 50,
    .variant = &notification_object,
};

CIRCLE("semaphore.posix.give.immediate") = {
    .title = "sem_post, nobody waiting",
    ALONE("sem_post"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .setup = set_up_nobody,
    .turns = posix_gives,
    .variant = &posix_semaphore,
};

CIRCLE("semaphore.posix.take.immediate") = {
    .title = "sem_wait on a given semaphore",
    ALONE("sem_wait"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .setup = set_up_given,
    .turns = posix_takes,
};

CIRCLE("semaphore.posix.give_take.blocking.same") = {
    .title = "POSIX semaphore, taker of higher priority waiting, same space",
    WHOLE("sem_post", "sem_wait", 2),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, SAME_SPACE),
    .variant = &posix_semaphore,
};

CIRCLE("semaphore.posix.give_take.blocking.cross") = {
    .title = "POSIX semaphore, taker of higher priority waiting, cross space",
    WHOLE("sem_post", "sem_wait", 2),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, CROSS_SPACE),
    .variant = &posix_semaphore,
};

CIRCLE("semaphore.posix.give.wake+ctx") = {
    .title = "POSIX semaphore, taker of higher priority waiting: from the giver's call to the "
             "taker running",
    TO_TAKER("sem_post", "sem_wait", 2),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, SAME_SPACE),
    .variant = &posix_semaphore,
};

CIRCLE("semaphore.posix.take.blocking") = {
    .title = "POSIX semaphore, taker of higher priority waiting: from the taker's call, which "
             "blocks, to the giver running",
    TO_GIVER("sem_post", "sem_wait"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, SAME_SPACE),
    .variant = &posix_semaphore,
};

CIRCLE("semaphore.sysv.give_take.immediate") = {
    .title = "semop +1, then -1, nobody waiting",
    ALONE("semop +1, semop -1"),
    .expect = ENTRIES(2),
    .setup = set_up_nobody,
    .turns = sysv_gives_and_takes,
    .variant = &sysv_semaphore,
};

CIRCLE("semaphore.sysv.give_take.blocking.same") = {
    .title = "System V semaphore, taker of higher priority waiting, same space",
    WHOLE("semop +1", "semop -1", 2),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, SAME_SPACE),
    .variant = &sysv_semaphore,
};

CIRCLE("semaphore.sysv.give_take.blocking.cross") = {
    .title = "System V semaphore, taker of higher priority waiting, cross space",
    WHOLE("semop +1", "semop -1", 2),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, CROSS_SPACE),
    .variant = &sysv_semaphore,
};

CIRCLE("semaphore.sysv.give.wake+ctx") = {
    .title = "System V semaphore, taker of higher priority waiting: from the giver's call to the "
             "taker running",
    TO_TAKER("semop +1", "semop -1", 2),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, SAME_SPACE),
    .variant = &sysv_semaphore,
};

CIRCLE("semaphore.sysv.take.blocking") = {
    .title = "System V semaphore, taker of higher priority waiting: from the taker's call, which "
             "blocks, to the giver running",
    TO_GIVER("semop +1", "semop -1"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(2, SAME_SPACE),
    .variant = &sysv_semaphore,
};

CIRCLE("condvar.signal_wait.same") = {
    .title = "Condition variable, waiter of higher priority, same space",
    WHOLE("lock, set, unlock, signal", "pthread_cond_wait", 3),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(3, SAME_SPACE),
    .variant = &condition_variable,
};

CIRCLE("condvar.signal_wait.cross") = {
    .title = "Condition variable, waiter of higher priority, cross space",
    WHOLE("lock, set, unlock, signal", "pthread_cond_wait", 3),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
    SERVER_HIGHER(3, CROSS_SPACE),
    .variant = &condition_variable,
};

CIRCLE("condvar.signal.wake+ctx") = {
    .title =
        "Condition variable, waiter of higher priority: from the giver's call to the taker running",
    TO_TAKER("lock, set, unlock, signal", "pthread_cond_wait", 3),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(3, SAME_SPACE),
    .variant = &condition_variable,
};

CIRCLE("condvar.wait.blocking") = {
    .title = "Condition variable, waiter of higher priority: from the taker's call, which blocks, "
             "to the giver running",
    TO_GIVER("lock, set, unlock, signal", "pthread_cond_wait"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    SERVER_HIGHER(3, SAME_SPACE),
    .variant = &condition_variable,
};

CIRCLE("condvar.signal_wait.mutex_held.same") = {
    .title = "Condition variable signalled with the mutex held, waiter of higher priority",
    .sequence = CYC_SEQUENCE("client: pthread_cond_signal, mutex held",
                             "server: preempts client, blocks on the mutex",
                             "client: unlocks the mutex",
                             "server: preempts client, returns from pthread_cond_wait",
                             "server: blocks in pthread_cond_wait", "client: returns from unlock"),
    .from = "client: before lock",
    .to = "client: after unlock",
    .expect = CYC_EXPECT({"entries", 5}, {"switches", 4}, {"space_switches", 0}, {"wakeups", 2},
                         {"voluntary", 0}, {"involuntary", 2}, {"faults", 0}),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}),
    .client = 50,
    .server = 51,
    .setup = set_up,
    .turns = gives,
    .variant = &condition_held,
};
