// SPDX-License-Identifier: BSD-2-Clause
#include "timeout.h"

#include "compiler.h"
#include "list.h"
#include "monitor.h"
#include "sched.h"

static struct link queue; // of threads, the earliest deadline first
static uint64_t programmed_ticks HOT_DATA;

static struct thread *thread_of(struct link *link)
{
    return CONTAINER(link, struct thread, timeout_link);
}

void timeouts_start(void)
{
    list_init(&queue);
    programmed_ticks = FOREVER;
}

static void program_timer(uint64_t at_ticks)
{
    COUNT(timer_sets);
    programmed_ticks = at_ticks;
    monitor_set_timer(at_ticks);
}

void timeout_not_later_than(uint64_t at_ticks)
{
    if (at_ticks < programmed_ticks)
        program_timer(at_ticks);
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
    timeout_not_later_than(t->timeout_ticks);
}

// The timer stays programmed: an interrupt in vain costs less than a monitor call here.
void timeout_stop(struct thread *t)
{
    list_remove(&t->timeout_link);
    t->timeout_armed = 0;
}

void timeouts_expire(void)
{
    uint64_t now = time_ticks();
    while (!list_empty(&queue) && thread_of(queue.next)->timeout_ticks <= now)
        thread_time_out(thread_of(queue.next));
    program_timer(list_empty(&queue) ? FOREVER : thread_of(queue.next)->timeout_ticks);
}
