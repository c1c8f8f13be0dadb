// SPDX-License-Identifier: BSD-2-Clause
#include "timeout.h"

#include "list.h"
#include "monitor.h"
#include "mutex.h"
#include "thread.h"

static struct link queue; // of threads, the earliest deadline first

static struct thread *thread_of(struct link *link)
{
    return CONTAINER(link, struct thread, timeout_link);
}

void timeouts_start(void)
{
    list_init(&queue);
}

static void program_timer(void)
{
    count(timer_sets);
    monitor_set_timer(list_empty(&queue) ? FOREVER : thread_of(queue.next)->timeout_ticks);
}

void timeout_start(struct thread *t, uint64_t ticks)
{
    uint64_t now = time_ticks();
    struct link *at = queue.prev;
    t->timeout_ticks = ticks < FOREVER - now ? now + ticks : FOREVER - 1;
    while (at != &queue && thread_of(at)->timeout_ticks > t->timeout_ticks)
        at = at->prev;
    list_insert_before(at->next, &t->timeout_link);
    t->timeout_armed = 1;
    if (at == &queue)
        program_timer();
}

// The timer stays programmed: an interrupt that finds nothing due costs less than a monitor call here.
void timeout_stop(struct thread *t)
{
    list_remove(&t->timeout_link);
    t->timeout_armed = 0;
}

void timeouts_expire(void)
{
    uint64_t now = time_ticks();
    while (!list_empty(&queue) && thread_of(queue.next)->timeout_ticks <= now) {
        struct thread *t = thread_of(queue.next);
        thread_wake(t, ERROR_TIMEOUT);
        if (t->awaited != NULL)
            mutex_withdraw(t);
    }
    program_timer();
}
