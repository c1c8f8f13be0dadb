// SPDX-License-Identifier: BSD-2-Clause
#include "scheduler.h"

#include "board.h"
#include "brand.h"
#include "component.h"
#include "handle.h"
#include "hot.h"
#include "riscv.h"
#include "switch.h"

_Static_assert(sizeof(struct scheduler_page) <= PAGE_BYTES, "a scheduler shares one page");

void scheduler_init(struct scheduler *s, uint64_t level, uint64_t b)
{
    (void)b;
    s->level = level % SCHEDULER_LEVELS;
}

#if CONFIG_USERSPACE
int64_t scheduler_map(struct scheduler *s)
{
    struct space *space = current->space;
    uint64_t address = USER_SCHEDULERS + s->level * PAGE_BYTES;
    event_call("scheduler_map");
    if (s->page == NULL)
        s->page = space_page(space, address);
    else if (space_map(space, address, s->page, PTE_READ | PTE_WRITE) != 0)
        return ERROR_MEMORY;
    if (s->page == NULL)
        return ERROR_MEMORY;
    fence_page(address); // a hart may remember that the page was missing
    if (space->scheduler_page == NULL)
        space->scheduler_page = s->page;
    return 0;
}

// Slots are given from the root down, so that a thread's schedulers are those before the first NULL.
static int64_t take_slot(struct scheduler *s, struct thread *t, uint64_t slot)
{
    if (slot == 0 || slot >= SCHEDULED_MAX || s->page == NULL)
        return ERROR_ARGUMENT;
    if (t->places[s->level].scheduler != NULL || (s->level > 0 && t->places[s->level - 1].scheduler == NULL))
        return ERROR_BUSY;
    t->places[s->level] = (struct place){s, slot};
    s->threads[slot] = t;
    return 0;
}

int64_t scheduler_join(struct scheduler *s, uint64_t slot)
{
    event_call("scheduler_join");
    return take_slot(s, current, slot);
}

int64_t sys_scheduler_adopt(uint64_t scheduler, uint64_t thread, uint64_t slot)
{
    struct handle *named = handle_entry(scheduler, OBJECT_scheduler), *whom = handle_entry(thread, OBJECT_thread);
    event_call("scheduler_adopt");
    if (named == NULL || whom == NULL)
        return ERROR_HANDLE;
    struct thread *t = (struct thread *)whom->object;
    if (t->migration.home == NULL || (t->state != THREAD_DORMANT && t->state != THREAD_PARKED))
        return ERROR_BUSY;
    int64_t result = take_slot((struct scheduler *)named->object, t, slot);
    if (result != 0)
        return result;
    t->level = current->level; // to the kernel's scheduler they are one
    t->threshold = current->level;
    if (t->brand == NULL)
        t->state = THREAD_PARKED;
    return 0;
}

int64_t sys_scheduler_attend(uint64_t scheduler, uint64_t component, uint64_t notifier)
{
    struct handle *named = handle_entry(scheduler, OBJECT_scheduler), *in = handle_entry(component, OBJECT_component);
    struct handle *on = handle_entry(notifier, OBJECT_thread);
    event_call("scheduler_attend");
    if (named == NULL || in == NULL || on == NULL)
        return ERROR_HANDLE;
    struct scheduler *s = (struct scheduler *)named->object;
    struct component *c = (struct component *)in->object;
    struct thread *t = (struct thread *)on->object;
    if (c->space == NULL)
        return ERROR_ABORTED;
    if (t->places[s->level].scheduler != s || t->brand != NULL || t->state != THREAD_PARKED)
        return ERROR_BUSY;
    s->component = c;
    s->notifier = t;
    t->role = "notifier";
    t->state = THREAD_DORMANT;
    return 0;
}

// The lock's owner runs, and finds that the caller waits. Were the word not read again here, the caller could wait for an
// owner who has freed the lock since the caller looked.
static int64_t wait_for_lock(struct scheduler *s)
{
    struct thread *self = current;
    if (LOCK_OWNER(s->page->lock) != s->page->next) {
        count(atomic_stale_lock); // freed in the meantime: the caller tries again
        return ERROR_ABORTED;
    }
    count(atomic_lock);
    s->page->lock = LOCK_OWNER(s->page->lock) | self->places[s->level].slot << 32;
    return 0;
}

static int64_t pass_lock(struct scheduler *s)
{
    if (LOCK_OWNER(s->page->lock) != current->places[s->level].slot)
        return ERROR_DENIED;
    count(atomic_unlock);
    s->page->lock = 0;
    return 0;
}

// A decision has been made: whom the running thread interrupted it does not return to any more, nor who interrupted
// the next one to that.
static inline int64_t run(struct thread *next, uint64_t state)
{
    if (current->migration.interrupted != NULL)
        untie(current);
    if (next->migration.interrupter != NULL)
        untie(next->migration.interrupter);
    if (next->preempted)
        count(switch_preempt);
    else
        count(switch_coop);
    return give_way(next, state);
}

// The end of an upcall in the scheduler itself, which has decided whom to run: `next`.
static int64_t end_in_switch(struct scheduler *s, struct thread *next)
{
    struct thread *self = current;
    if (self->migration.depth != 0 || (self->brand == NULL && self != s->notifier))
        return ERROR_DENIED;
    if (self->brand != NULL) {
        brand_execute_pending(self->brand);
        count(finished_brands);
        scheduler_post(self, EVENT_BRAND_READY);
    }
    return run(next, THREAD_DORMANT);
}

static __attribute__((noinline)) int64_t switch_specially(struct scheduler *s, struct thread *next, enum switch_how how)
{
    int64_t refused = how == SWITCH_LOCK_WAIT ? wait_for_lock(s) : how == SWITCH_LOCK_PASS ? pass_lock(s) : 0;
    if (refused != 0)
        return refused;
    if (next->state != THREAD_PARKED)
        return ERROR_BUSY;
    return how == SWITCH_TAIL ? end_in_switch(s, next) : run(next, THREAD_PARKED);
}

// The choice is read from the page at the last moment: an upcall that comes between the program's decision and this
// call may still change it. Whoever has the scheduler's handle may call; only its own threads come and go.
int64_t scheduler_switch(struct scheduler *s, enum switch_how how)
{
    struct thread *self = current;
    event_call("scheduler_switch");
    if (self->places[s->level].scheduler != s)
        return ERROR_DENIED;
    uint64_t slot = s->page->next;
    struct thread *next = slot < SCHEDULED_MAX ? s->threads[slot] : NULL;
    if (next == NULL || next->places[s->level].scheduler != s)
        return ERROR_ARGUMENT;
    if (how != SWITCH_PLAIN)
        return switch_specially(s, next, how);
    if (next == self) {
        count(switch_self);
        return 0;
    }
    if (next->state != THREAD_PARKED)
        return ERROR_BUSY;
    return run(next, THREAD_PARKED);
}

struct scheduler *scheduler_common(const struct thread *a, const struct thread *b)
{
    struct scheduler *common = NULL;
    for (int level = 0; level < SCHEDULER_LEVELS; level++) {
        struct scheduler *s = a->places[level].scheduler;
        if (s == NULL || s != b->places[level].scheduler)
            break;
        common = s;
    }
    return common;
}

// Puts the slot's event at the end of the list, unless it is in it. The page belongs to the program as much as to
// the kernel: no slot read from it is used here.
static inline void append(struct scheduler *s, uint64_t slot)
{
    struct scheduler_event *event = s->page->event;
    if (slot == s->tail || event[slot].next != 0)
        return;
    event[s->tail].next = slot;
    s->tail = slot;
}

void scheduler_post(const struct thread *t, uint64_t flag)
{
    for (const struct place *at = t->places; at < t->places + SCHEDULER_LEVELS && at->scheduler != NULL; at++) {
        at->scheduler->page->event[at->slot].flags |= flag;
        append(at->scheduler, at->slot);
    }
}

uint64_t scheduler_urgency(const struct scheduler *s, const struct thread *t)
{
    return s->page->event[t->places[s->level].slot].urgency;
}

void scheduler_roll_back(struct frame *frame)
{
    const struct scheduler_page *page = current->space->scheduler_page;
    if (page == NULL)
        return;
    for (int i = 0; i < SECTIONS_MAX; i++) {
        const struct scheduler_section *section = &page->sections[i];
        if (frame->pc > section->start && frame->pc < section->end) {
            frame->pc = section->start;
            count(atomic_rbk);
            return;
        }
    }
}

#if CONFIG_ACCOUNTING
// One stamp for all: every stretch of an accounted thread begins and ends with a switch that moves it.
static uint64_t charged_until_cyc HOT;

int64_t scheduler_account(struct scheduler *s, uint64_t slot, uint64_t on)
{
    struct thread *t = slot < SCHEDULED_MAX ? s->threads[slot] : NULL;
    if (t == NULL || t->places[s->level].scheduler != s)
        return ERROR_ARGUMENT;
    t->accounted = on != 0;
    if (t == current)
        charged_until_cyc = read_cycle();
    return 0;
}

static void charge(const struct thread *from)
{
    uint64_t now_cyc = read_cycle();
    uint64_t used_cyc = now_cyc - charged_until_cyc;
    charged_until_cyc = now_cyc;
    if (!from->accounted)
        return;
    for (const struct place *at = from->places; at < from->places + SCHEDULER_LEVELS && at->scheduler != NULL; at++) {
        at->scheduler->page->event[at->slot].used_cyc += used_cyc;
        append(at->scheduler, at->slot);
    }
}
int64_t switch_accounted(struct thread *next)
{
    charge(current);
    return switch_unaccounted(next);
}
#else
int64_t scheduler_account(struct scheduler *s, uint64_t slot, uint64_t on)
{
    (void)s;
    (void)slot;
    (void)on;
    return ERROR_CALL;
}
#endif
#endif
