// SPDX-License-Identifier: BSD-2-Clause
#include "scheduling.h"

#if CONFIG_MCS
#include "hot.h"
#include "thread.h"
#include "timeout.h"

struct scheduling_context *scheduling_charged HOT;
static uint64_t charged_since_ticks HOT; // what came before has been charged

static inline struct refill *first(struct scheduling_context *c)
{
    return &c->refills[c->head];
}

static inline int round_robin(const struct scheduling_context *c)
{
    return c->budget_ticks == c->period_ticks;
}

void scheduling_init(struct scheduling_context *c, uint64_t budget_ticks, uint64_t period_ticks, uint64_t now_ticks)
{
    *c = (struct scheduling_context){.budget_ticks = budget_ticks, .period_ticks = period_ticks, .count = 1};
    *first(c) = (struct refill){now_ticks, budget_ticks};
}

// Where the ring is full the last refill takes the amount over and comes later: never more budget than allowed.
static void add_refill(struct scheduling_context *c, uint64_t at_ticks, uint64_t amount_ticks)
{
    struct refill *last = &c->refills[(c->head + c->count - 1) % REFILLS_MAX];
    if (c->count == REFILLS_MAX) {
        last->at_ticks = at_ticks;
        last->amount_ticks += amount_ticks;
    } else {
        c->refills[(c->head + c->count++) % REFILLS_MAX] = (struct refill){at_ticks, amount_ticks};
    }
}

static void drop_first(struct scheduling_context *c)
{
    c->head = (c->head + 1) % REFILLS_MAX;
    c->count--;
}

// What was used comes back one period after the time from which it could have been used.
static void charge_sporadic(struct scheduling_context *c, uint64_t used_ticks)
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

static inline void charge(struct scheduling_context *c, uint64_t now_ticks)
{
    uint64_t used_ticks = now_ticks - charged_since_ticks;
    charged_since_ticks = now_ticks;
    c->consumed_ticks += used_ticks;
    if (!round_robin(c))
        charge_sporadic(c, used_ticks);
    else
        first(c)->amount_ticks -= used_ticks < first(c)->amount_ticks ? used_ticks : first(c)->amount_ticks;
}

// The end of what the first refill holds, if it may be used already.
static inline uint64_t end_of_budget(struct scheduling_context *c)
{
    uint64_t start_ticks = charged_since_ticks;
    return first(c)->at_ticks > start_ticks ? start_ticks : start_ticks + first(c)->amount_ticks;
}

void scheduling_set_budget(struct scheduling_context *c, uint64_t budget_ticks, uint64_t period_ticks)
{
    uint64_t now_ticks = time_ticks();
    charge(scheduling_charged, now_ticks);
    scheduling_init(c, budget_ticks, period_ticks, now_ticks);
    if (c == scheduling_charged)
        timeout_not_later_than(end_of_budget(c));
}

// A context that was not used for a while has no claim to the past: what is due counts from now, in one piece.
static void catch_up(struct scheduling_context *c, uint64_t now_ticks)
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

void scheduling_switch(const struct thread *next)
{
    charge(scheduling_charged, time_ticks());
    scheduling_charged = next->scheduling;
    if (!round_robin(scheduling_charged))
        catch_up(scheduling_charged, charged_since_ticks);
    timeout_not_later_than(end_of_budget(scheduling_charged));
}

void scheduling_expire(void)
{
    struct scheduling_context *c = scheduling_charged;
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
