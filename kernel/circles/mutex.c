// SPDX-License-Identifier: BSD-2-Clause
//
// Mutexes and condition variables, by Zephyr's keys.
#include "other_hart.h"
#include "zephyr.h"

PART void lock(struct props *p)
{
    mutex_lock(p->object, FOREVER);
}

PART void lock_twice(struct props *p)
{
    lock(p);
    lock(p);
}

PART void unlock(struct props *p)
{
    mutex_unlock(p->object);
}

PART void unlock_twice(struct props *p)
{
    unlock(p);
    unlock(p);
}

static int64_t lock_part(void *arg)
{
    return time_part(arg, lock, lock, unlock_twice);
}

static int64_t unlock_part(void *arg)
{
    return time_part(arg, lock_twice, unlock, unlock);
}

#if CONFIG_SMP
// Three mutexes go round between two threads: each unlocks the one that the other waits for, then
// locks the one that the other holds. Objects 3 and 4 are semaphores that order the beginning.
static unsigned pass_on(struct bench_shared *shared, uint64_t turns, unsigned held)
{
    for (; turns > 0; turns--) {
        mutex_unlock(bench_object(shared, held));
        mutex_lock(bench_object(shared, (held + 1) % 3), FOREVER);
        held = (held + 2) % 3;
    }
    return held;
}

static void pass_on_turns(void *arg, uint64_t turns)
{
    struct bench_shared *shared = arg;
    shared->scratch[0] = pass_on(shared, turns, (unsigned)shared->scratch[0]);
}

static void hold_two(struct bench_shared *shared)
{
    mutex_lock(bench_object(shared, 0), FOREVER);
    mutex_lock(bench_object(shared, 2), FOREVER);
    semaphore_give(bench_object(shared, 3));
    semaphore_take(bench_object(shared, 4), FOREVER);
}

static void contender(struct bench_shared *shared)
{
    semaphore_take(bench_object(shared, 3), FOREVER);
    mutex_lock(bench_object(shared, 1), FOREVER);
    semaphore_give(bench_object(shared, 4));
    mutex_lock(bench_object(shared, 0), FOREVER);
    pass_on(shared, UINT64_MAX, 1);
}
#endif

#define LOCKS                                                                    \
    SEQUENCE("client: mutex_lock", "client: mutex_lock", "client: mutex_unlock", \
             "client: mutex_unlock")
#define ONE_MUTEX \
    .objects = {{OBJECT_mutex, 0, 0}}, .sides = ALL_ALONE, .naming = BY_MODE, .client_calls = 4

const struct circle mutex_circles[] = {
#if CONFIG_SMP
    {ROUND_TRIP_BETWEEN_HARTS("mutex.round_trip",
                              "Unlock a mutex that the other hart waits for, lock one it holds",
                              "mutex_unlock", "mutex_lock"),
     .objects = {{OBJECT_mutex, 0, 0},
                 {OBJECT_mutex, 0, 0},
                 {OBJECT_mutex, 0, 0},
                 {OBJECT_semaphore, 0, 1},
                 {OBJECT_semaphore, 0, 1}},
     .prepare = hold_two, .turns = pass_on_turns, .peer = contender},
#endif
    {PART_OF_TURN("mutex.lock.immediate.recursive", "Lock a mutex once more", LOCKS,
                  "the second mutex_lock", "amortised"),
     ONE_MUTEX, .pass = lock_part},
    {PART_OF_TURN("mutex.unlock.immediate.recursive", "Unlock a mutex that stays locked", LOCKS,
                  "the first mutex_unlock", "amortised"),
     ONE_MUTEX, .pass = unlock_part},
    END_OF_FAMILY,
};

PART void signal(struct props *p)
{
    condvar_signal(p->object);
}

PART void wait(struct props *p)
{
    condvar_wait(p->object, p->second, FOREVER);
}

static int64_t signal_pass(void *arg)
{
    return time_to_peer(arg, signal);
}

// The client keeps the mutex from its first turn on: who waits gives it up and has it again.
static int64_t wait_pass(void *arg)
{
    struct bench_shared *shared = arg;
    if (!shared->scratch[0])
        shared->scratch[0] = mutex_lock(bench_object(shared, 1), FOREVER) == 0;
    return time_to_peer(arg, wait);
}

static void waiter(struct bench_shared *shared)
{
    mutex_lock(bench_object(shared, 1), FOREVER);
    stamp_after(shared, wait);
}

static void signaller(struct bench_shared *shared)
{
    stamp_before(shared, signal);
}

#define CONDVAR_AND_MUTEX \
    .objects = {{OBJECT_condvar, 0, 0}, {OBJECT_mutex, 0, 0}}, .sides = ALL_PAIRS

const struct circle condvar_circles[] = {
    {BLOCK("condvar.wait.blocking",
           "Give up a mutex and wait for a signal: until a less urgent thread runs", "condvar_wait",
           "condvar_signal", "left in"),
     CONDVAR_AND_MUTEX, .pass = wait_pass, .peer = signaller},
    {WAKE("condvar.signal.wake+ctx",
          "Signal a more urgent thread: until it runs and has its mutex again", "condvar_signal",
          "condvar_wait", "left in"),
     CONDVAR_AND_MUTEX, .pass = signal_pass, .peer = waiter},
    END_OF_FAMILY,
};
