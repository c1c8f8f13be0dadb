// SPDX-License-Identifier: BSD-2-Clause
//
// The other CPU reads its clock between two readings of ours: it is asked after the first, and has
// answered before the second. So its clock is ahead of ours by no more than its reading minus our
// first, and by no less than its reading minus our second (Cristian, Probabilistic clock
// synchronization, Distributed Computing 3, 1989, section 3). Each of many exchanges bounds the
// same offset, so that the tightest bound of either side holds.
#define _GNU_SOURCE
#include "clock_offset.h"

#include <errno.h>
#include <pthread.h>

#include "circles/spin.h"

#define EXCHANGES 2000
#define NS_PER_S 1000000000
#define STACK_BYTES (64 << 10)

static struct {
    _Alignas(128) _Atomic uint32_t asked;
    _Alignas(128) _Atomic uint32_t answered;
    uint64_t reading; // the other CPU's clock, before `answered` says so
} exchange;

// The other clock minus ours, over all calls: the clocks may move against each other in a visit.
static int64_t least = INT64_MAX, most = INT64_MIN;

struct answerer {
    int priority;
    const struct options *options;
};

int clock_offset_matters(const struct linux_circle *circle)
{
    return circle->placement == OTHER_CPU && circle->interval == ONE_WAY;
}

static void *answer(void *arg)
{
    const struct answerer *answerer = arg;
    host_pin(cpu_of(OTHER_CPU));
    host_schedule(answerer->options, answerer->priority);
    for (uint32_t number = 1; number <= EXCHANGES; number++) {
        SPIN_UNTIL(atomic_load_explicit(&exchange.asked, memory_order_acquire) == number)
        exchange.reading = clock_begin();
        atomic_store_explicit(&exchange.answered, number, memory_order_release);
    }
    return NULL;
}

static void ask(void)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    for (uint32_t number = 1; number <= EXCHANGES; number++) {
        uint64_t before = clock_end();
        atomic_store_explicit(&exchange.asked, number, memory_order_release);
        SPIN_UNTIL(atomic_load_explicit(&exchange.answered, memory_order_acquire) == number)
        uint64_t after = clock_begin();
        int64_t ahead_most = (int64_t)(exchange.reading - before);
        int64_t ahead_least = (int64_t)(exchange.reading - after);
        high = ahead_most < high ? ahead_most : high;
        low = ahead_least > low ? ahead_least : low;
    }
    least = low < least ? low : least;
    most = high > most ? high : most;
}

void clock_offset_bound(const struct linux_circle *self, const struct options *options)
{
    struct answerer answerer = {self->server + 1, options};
    pthread_t thread;
    pthread_attr_t attr;
    atomic_store(&exchange.asked, 0);
    atomic_store(&exchange.answered, 0);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    errno = pthread_create(&thread, &attr, answer, &answerer);
    if (errno != 0)
        circle_fail("pthread_create");
    ask();
    pthread_join(thread, NULL);
}

int64_t clock_offset_ns(void)
{
    int64_t farthest = most > -least ? most : -least;
    return (int64_t)(((__extension__(__int128) farthest * NS_PER_S) + (int64_t)clock_hz() - 1) /
                     (int64_t)clock_hz());
}
