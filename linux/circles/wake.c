// SPDX-License-Identifier: BSD-2-Clause
//
// Notifications, semaphores and condition variables: one thread gives, one of higher priority takes. The
// taker preempts the giver inside its call, blocks again, and the giver's call returns: a turn.
// One-way circles time a part of the same turn. Semaphores also without anybody waiting.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/sem.h>
#include <unistd.h>

#include "contract.h"

// An eventfd stands for a notification: giving never blocks, taking collects all that was given.
static int notification;

static void notification_make(const struct circle *self)
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

static void posix_make(const struct circle *self)
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

static void sysv_make(const struct circle *self)
{
    (void)self;
    sysv = semget(IPC_PRIVATE, 1, 0600);
    if (sysv < 0 && errno == ENOSYS)
        circle_skip("this kernel has no System V semaphores; build it with CONFIG_SYSVIPC");
    must(sysv, "semget");
    host_forget_sysv('s', sysv);
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

static void condition_make(const struct circle *self)
{
    int shared = self->space == CROSS_SPACE ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
    pthread_mutexattr_t mutex_attributes;
    pthread_condattr_t changed_attributes;
    condition = shared_alloc(sizeof *condition);
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
    while (!condition->given)
        pthread_cond_wait(&condition->changed, &condition->mutex);
    condition->given = 0;
    pthread_mutex_unlock(&condition->mutex);
}

// A row's `size` is its object.
enum { NOTIFICATION, POSIX, SYSV, CONDITION, CONDITION_HOLDING };
static const struct object {
    void (*make)(const struct circle *self);
    void (*give)(void);
    void (*take)(void);
} objects[] = {
    [NOTIFICATION] = {notification_make, notification_give, notification_take},
    [POSIX] = {posix_make, posix_give, posix_take},
    [SYSV] = {sysv_make, sysv_give, sysv_take},
    [CONDITION] = {condition_make, condition_give, condition_take},
    [CONDITION_HOLDING] = {condition_make, condition_give_holding, condition_take},
};

static void serve(const struct circle *self)
{
    void (*take)(void) = objects[self->size].take;
    for (;;)
        take();
}

static void set_up(const struct circle *self)
{
    objects[self->size].make(self);
    peer_start(self, serve);
}

static void gives(void *arg, uint64_t turns)
{
    const struct circle *self = arg;
    void (*give)(void) = objects[self->size].give;
    for (; turns > 0; turns--)
        give();
}

// When the taker last came out of its call, and when it last went in.
static struct stamps {
    uint64_t out, in;
} *stamps;

static void serve_stamping(const struct circle *self)
{
    void (*take)(void) = objects[self->size].take;
    for (;;) {
        take();
        stamps->out = clock_end();
        stamps->in = clock_begin();
    }
}

static void set_up_stamping(const struct circle *self)
{
    stamps = shared_alloc(sizeof *stamps);
    objects[self->size].make(self);
    peer_start(self, serve_stamping);
}

static int64_t pass_give(void *arg)
{
    const struct circle *self = arg;
    void (*give)(void) = objects[self->size].give;
    uint64_t begin = clock_begin();
    give();
    return (int64_t)(stamps->out - begin);
}

static int64_t pass_take(void *arg)
{
    const struct circle *self = arg;
    objects[self->size].give();
    return (int64_t)(clock_end() - stamps->in);
}

// Without anybody waiting. A semaphore takes more gives than any visit makes; System V's count ends
// at 32767, so there a give is always paired with a take.
static void set_up_nobody(const struct circle *self)
{
    objects[self->size].make(self);
}

static void set_up_given(const struct circle *self)
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

// `entries_`: one for the giver and one for the taker; a mutex taken on the way out of pthread_cond_wait
// counts as contended for glibc, so that its unlocking enters the kernel, too.
#define WAKE(key_, title_, give, take, entries_, kind_, from_, to_, object_, setup_, turns_, pass_, space_)            \
    {                                                                                                                  \
        .contract = {.key = key_,                                                                                      \
                     .title = title_,                                                                                  \
                     .sequence = SEQUENCE("client: " give, "server: preempts client, returns from " take,              \
                                          "server: blocks in " take, "client: returns from " give),                    \
                     .interval = kind_,                                                                                \
                     .from = from_,                                                                                    \
                     .to = to_,                                                                                        \
                     .expect = EXPECT_ROUND_TRIP(entries_, space_, server_higher),                                     \
                     .params = PARAMS({"space", #space_}, {"priority", "server_higher"}),                              \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, .pass = pass_, .size = object_, PLACED(space_, server_higher),               \
    }
#define WHOLE(key_, title_, give, take, entries_, object_, space_)                                                     \
    WAKE(key_ "." #space_, title_ ", " WORDS_##space_, give, take, entries_, "round_trip", "client: before " give,     \
         "client: after " give, object_, set_up, gives, NULL, space_)
#define TO_TAKER(key_, title_, give, take, entries_, object_, space_)                                                  \
    WAKE(key_, title_ ": from the giver's call to the taker running", give, take, entries_, "one_way",                 \
         "client: before " give, "server: after " take, object_, set_up_stamping, NULL, pass_give, space_)
#define TO_GIVER(key_, title_, give, take, entries_, object_, space_)                                                  \
    WAKE(key_, title_ ": from the taker's call, which blocks, to the giver running", give, take, entries_, "one_way",  \
         "server: before " take, "client: after " give, object_, set_up_stamping, NULL, pass_take, space_)

#define BY_NOTIFICATION(row, key_, space_)                                                                             \
    row(key_, "Notification (eventfd) to a thread of higher priority", "write", "read", 2, NOTIFICATION, space_)
#define BY_POSIX(row, key_, space_)                                                                                    \
    row(key_, "POSIX semaphore, taker of higher priority waiting", "sem_post", "sem_wait", 2, POSIX, space_)
#define BY_SYSV(row, key_, space_)                                                                                     \
    row(key_, "System V semaphore, taker of higher priority waiting", "semop +1", "semop -1", 2, SYSV, space_)
#define BY_CONDITION(row, key_, space_)                                                                                \
    row(key_, "Condition variable, waiter of higher priority", "lock, set, unlock, signal", "pthread_cond_wait", 3,    \
        CONDITION, space_)

const struct circle wake_circles[] = {
    BY_NOTIFICATION(WHOLE, "notification.low_to_high", same),
    BY_NOTIFICATION(WHOLE, "notification.low_to_high", cross),
    BY_NOTIFICATION(TO_TAKER, "notification.low_to_high.one_way.same", same),
    BY_NOTIFICATION(TO_TAKER, "notification.low_to_high.one_way.cross", cross),

    SHORT("semaphore.posix.give.immediate", "sem_post, nobody waiting", "sem_post", EXPECT_ENTRIES(0), set_up_nobody,
         posix_gives, POSIX),
    SHORT("semaphore.posix.take.immediate", "sem_wait on a given semaphore", "sem_wait", EXPECT_ENTRIES(0),
         set_up_given, posix_takes, POSIX),
    BY_POSIX(WHOLE, "semaphore.posix.give_take.blocking", same),
    BY_POSIX(WHOLE, "semaphore.posix.give_take.blocking", cross),
    BY_POSIX(TO_TAKER, "semaphore.posix.give.wake+ctx", same),
    BY_POSIX(TO_GIVER, "semaphore.posix.take.blocking", same),

    SOLO("semaphore.sysv.give_take.immediate", "semop +1, then -1, nobody waiting", "semop +1, semop -1",
         EXPECT_ENTRIES(2), set_up_nobody, sysv_gives_and_takes, SYSV),
    BY_SYSV(WHOLE, "semaphore.sysv.give_take.blocking", same),
    BY_SYSV(WHOLE, "semaphore.sysv.give_take.blocking", cross),
    BY_SYSV(TO_TAKER, "semaphore.sysv.give.wake+ctx", same),
    BY_SYSV(TO_GIVER, "semaphore.sysv.take.blocking", same),

    BY_CONDITION(WHOLE, "condvar.signal_wait", same),
    BY_CONDITION(WHOLE, "condvar.signal_wait", cross),
    BY_CONDITION(TO_TAKER, "condvar.signal.wake+ctx", same),
    BY_CONDITION(TO_GIVER, "condvar.wait.blocking", same),
    {.contract = {.key = "condvar.signal_wait.mutex_held.same",
                  .title = "Condition variable signalled with the mutex held, waiter of higher priority",
                  .sequence = SEQUENCE("client: pthread_cond_signal, mutex held",
                                       "server: preempts client, blocks on the mutex", "client: unlocks the mutex",
                                       "server: preempts client, returns from pthread_cond_wait",
                                       "server: blocks in pthread_cond_wait", "client: returns from unlock"),
                  .interval = "round_trip",
                  .from = "client: before lock",
                  .to = "client: after unlock",
                  .expect = EXPECT({"entries", 5}, {"switches", 4}, {"space_switches", 0}, {"wakeups", 2},
                                   {"voluntary", 0}, {"involuntary", 2}, {"faults", 0}),
                  .params = PARAMS({"space", "same"}, {"priority", "server_higher"}),
                  .correction = "none"},
     .setup = set_up, .turns = gives, .size = CONDITION_HOLDING, PLACED(same, server_higher)},
    END_OF_FAMILY,
};
