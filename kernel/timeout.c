// SPDX-License-Identifier: BSD-2-Clause
#include "timeout.h"

#include "hart.h"
#include "list.h"
#include "monitor.h"
#include "sched.h"

static struct thread *thread_of(struct link *link)
{
    return CONTAINER(link, struct thread, timeout_link);
}

void timeouts_start(void)
{
    list_init(&HERE(timeouts));
    HERE(programmed_ticks) = FOREVER;
}

static void program_timer(uint64_t at_ticks)
{
    COUNT(timer_sets);
    HERE(programmed_ticks) = at_ticks;
    monitor_set_timer(at_ticks);
}

void timeout_not_later_than(uint64_t at_ticks)
{
    if (at_ticks < HERE(programmed_ticks))
        program_timer(at_ticks);
}

void timeout_start(struct thread *t, uint64_t ticks)
{
    uint64_t now = time_ticks();
    struct link *at = HERE(timeouts).prev;
    t->timeout_ticks = ticks < FOREVER - now ? now + ticks : FOREVER - 1;
    while (at != &HERE(timeouts) && thread_of(at)->timeout_ticks > t->timeout_ticks)
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
    if (!list_empty(&HERE(timeouts)))
        smp_alone();
    smp_arrivals(); // who has what it waited for is not late
    while (!list_empty(&HERE(timeouts)) && thread_of(HERE(timeouts).next)->timeout_ticks <= now)
        thread_time_out(thread_of(HERE(timeouts).next));
    program_timer(list_empty(&HERE(timeouts)) ? FOREVER
                                              : thread_of(HERE(timeouts).next)->timeout_ticks);
}
