// SPDX-License-Identifier: BSD-2-Clause
#include "sched_context.h"

#if CONFIG_MCS
#include "compiler.h"
#include "sched.h"
#include "timeout.h"

struct sched_context *sched_context_charged HOT_DATA;
static uint64_t charged_since_ticks HOT_DATA; // all time before it is charged

static inline struct refill *first(struct sched_context *c)
{
    return &c->refills[c->head];
}

static inline int round_robin(const struct sched_context *c)
{
    return c->budget_ticks == c->period_ticks;
}

void sched_context_init(struct sched_context *c, uint64_t budget_ticks, uint64_t period_ticks,
                        uint64_t now_ticks)
{
    *c = (struct sched_context){
        .budget_ticks = budget_ticks, .period_ticks = period_ticks, .count = 1};
    *first(c) = (struct refill){now_ticks, budget_ticks};
}

// If the ring is full, the last refill takes the amount over and comes later, so that the budget is
// never exceeded.
static void add_refill(struct sched_context *c, uint64_t at_ticks, uint64_t amount_ticks)
{
    struct refill *last = &c->refills[(c->head + c->count - 1) % REFILLS_MAX];
    if (c->count == REFILLS_MAX) {
        last->at_ticks = at_ticks;
        last->amount_ticks += amount_ticks;
    } else {
        c->refills[(c->head + c->count++) % REFILLS_MAX] = (struct refill){at_ticks, amount_ticks};
    }
}

static void drop_first(struct sched_context *c)
{
    c->head = (c->head + 1) % REFILLS_MAX;
    c->count--;
}

// What was used comes back one period after the earliest time of its use.
static void charge_sporadic(struct sched_context *c, uint64_t used_ticks)
{
    while (used_ticks >= first(c)->amount_ticks) {
        struct refill used = *first(c);
        used_ticks -= used.amount_ticks;
        drop_first(c);
        add_refill(c, used.at_ticks + c->period_ticks, used.amount_ticks);
    }
    if (used_ticks > 0) {
        uint64_t back_ticks = first(c)->at_ticks + c->period_ticks;
        first(c)->amount_ticks -= used_ticks;
        add_refill(c, back_ticks, used_ticks);
    }
}

static inline void charge(struct sched_context *c, uint64_t now_ticks)
{
    uint64_t used_ticks = now_ticks - charged_since_ticks;
    charged_since_ticks = now_ticks;
    c->consumed_ticks += used_ticks;
    if (!round_robin(c))
        charge_sporadic(c, used_ticks);
    else
        first(c)->amount_ticks -=
            used_ticks < first(c)->amount_ticks ? used_ticks : first(c)->amount_ticks;
}

// When the first refill ends; the present if it may not be used yet.
static inline uint64_t end_of_budget(struct sched_context *c)
{
    uint64_t start_ticks = charged_since_ticks;
    return first(c)->at_ticks > start_ticks ? start_ticks : start_ticks + first(c)->amount_ticks;
}

void sched_context_set_budget(struct sched_context *c, uint64_t budget_ticks, uint64_t period_ticks)
{
    uint64_t now_ticks = time_ticks();
    charge(sched_context_charged, now_ticks);
    sched_context_init(c, budget_ticks, period_ticks, now_ticks);
    if (c == sched_context_charged)
        timeout_not_later_than(end_of_budget(c));
}

// Unused budget of the past is lost: what is due counts from now, in one piece.
static void catch_up(struct sched_context *c, uint64_t now_ticks)
{
    if (first(c)->at_ticks > now_ticks)
        return;
    first(c)->at_ticks = now_ticks;
    while (c->count > 1 && c->refills[(c->head + 1) % REFILLS_MAX].at_ticks <= now_ticks) {
        uint64_t amount_ticks = first(c)->amount_ticks;
        drop_first(c);
        first(c)->at_ticks = now_ticks;
        first(c)->amount_ticks += amount_ticks;
    }
}

void sched_context_switch(const struct thread *next)
{
    charge(sched_context_charged, time_ticks());
    sched_context_charged = next->sched_context;
    if (!round_robin(sched_context_charged))
        catch_up(sched_context_charged, charged_since_ticks);
    timeout_not_later_than(end_of_budget(sched_context_charged));
}

void sched_context_expire(void)
{
    struct sched_context *c = sched_context_charged;
    charge(c, time_ticks());
    if (end_of_budget(c) > charged_since_ticks) {
        timeout_not_later_than(end_of_budget(c));
    } else if (round_robin(c)) {
        first(c)->amount_ticks = c->budget_ticks;
        timeout_not_later_than(end_of_budget(c));
        thread_yield();
    } else {
        thread_deplete(first(c)->at_ticks - charged_since_ticks);
    }
}
#endif
