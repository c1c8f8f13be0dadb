// SPDX-License-Identifier: BSD-2-Clause
#include "user_scheduler.h"

#include "brand.h"
#include "compiler.h"
#include "component.h"
#include "handle.h"
#include "memlayout.h"
#include "riscv.h"
#include "sched.h"

_Static_assert(sizeof(struct scheduler_page) <= PAGE_BYTES, "a scheduler shares one page");

void user_scheduler_init(struct user_scheduler *s, uint64_t level, uint64_t b)
{
    (void)b;
    s->level = level % SCHEDULER_LEVELS;
}

#if CONFIG_USERSPACE
#if CONFIG_FINE
struct lock user_schedulers_lock;
#endif

int64_t scheduler_map(struct user_scheduler *s)
{
    struct space *space = current->space;
    uint64_t address = USER_SCHEDULERS + s->level * PAGE_BYTES;
    eventlog_call("scheduler_map");
    smp_alone();
    if (s->page == NULL)
        s->page = space_page(space, address);
    else if (space_map(space, address, s->page, PTE_READ | PTE_WRITE) != 0)
        return ERROR_MEMORY;
    if (s->page == NULL)
        return ERROR_MEMORY;
    fence_page(address); // a hart may remember that the page was missing
    smp_fence();
    if (space->scheduler_page == NULL)
        space->scheduler_page = s->page;
    return 0;
}

// A thread takes slots from the root down, so its schedulers end at the first NULL.
static int64_t take_slot(struct user_scheduler *s, struct thread *t, uint64_t slot)
{
    if (slot == 0 || slot >= SCHEDULED_MAX || s->page == NULL)
        return ERROR_ARGUMENT;
    if (!is_here(t)) // its threads switch to each other directly
        return ERROR_DENIED;
    if (t->places[s->level].scheduler != NULL ||
        (s->level > 0 && t->places[s->level - 1].scheduler == NULL))
        return ERROR_BUSY;
    t->places[s->level] = (struct place){s, slot};
    s->threads[slot] = t;
    return 0;
}

int64_t scheduler_join(struct user_scheduler *s, uint64_t slot)
{
    eventlog_call("scheduler_join");
    smp_alone();
    return take_slot(s, current, slot);
}

int64_t sys_scheduler_adopt(uint64_t scheduler, uint64_t thread, uint64_t slot)
{
    struct handle *named = handle_entry(scheduler, OBJECT_user_scheduler),
                  *whom = handle_entry(thread, OBJECT_thread);
    eventlog_call("scheduler_adopt");
    if (named == NULL || whom == NULL)
        return ERROR_HANDLE;
    struct thread *t = (struct thread *)whom->object;
    smp_alone();
    if (t->migration.home == NULL || (t->state != THREAD_DORMANT && t->state != THREAD_PARKED))
        return ERROR_BUSY;
    int64_t result = take_slot((struct user_scheduler *)named->object, t, slot);
    if (result != 0)
        return result;
    t->level = current->level; // for the kernel's scheduler they are one
    t->threshold = current->level;
    if (t->brand == NULL)
        t->state = THREAD_PARKED;
    return 0;
}

int64_t sys_scheduler_attend(uint64_t scheduler, uint64_t component, uint64_t notifier)
{
    struct handle *named = handle_entry(scheduler, OBJECT_user_scheduler),
                  *in = handle_entry(component, OBJECT_component);
    struct handle *on = handle_entry(notifier, OBJECT_thread);
    eventlog_call("scheduler_attend");
    if (named == NULL || in == NULL || on == NULL)
        return ERROR_HANDLE;
    struct user_scheduler *s = (struct user_scheduler *)named->object;
    struct component *c = (struct component *)in->object;
    struct thread *t = (struct thread *)on->object;
    smp_alone();
    if (c->space == NULL)
        return ERROR_ABORTED;
    if (t->places[s->level].scheduler != s || t->brand != NULL || t->state != THREAD_PARKED)
        return ERROR_BUSY;
    s->component = c;
    s->notifier = t;
    t->name = "notifier";
    t->state = THREAD_DORMANT;
    return 0;
}

// Marks that the caller waits, for the lock's owner, which runs next. The word is read again here,
// because the owner may have freed the lock since the caller read it.
static int64_t wait_for_lock(struct user_scheduler *s)
{
    struct thread *self = current;
    if (LOCK_OWNER(s->page->lock) != s->page->next) {
        COUNT(atomic_stale_lock); // it was freed: the caller tries again
        return ERROR_ABORTED;
    }
    COUNT(atomic_lock);
    s->page->lock = LOCK_OWNER(s->page->lock) | self->places[s->level].slot << 32;
    return 0;
}

static int64_t pass_lock(struct user_scheduler *s)
{
    if (LOCK_OWNER(s->page->lock) != current->places[s->level].slot)
        return ERROR_DENIED;
    COUNT(atomic_unlock);
    s->page->lock = 0;
    return 0;
}

// The scheduler has decided: the ends of upcalls do not resume the threads that they interrupted
// any more.
static inline int64_t run(struct thread *next, uint64_t state)
{
    if (current->migration.interrupted != NULL)
        unlink_upcall(current);
    if (next->migration.interrupter != NULL)
        unlink_upcall(next->migration.interrupter);
    if (next->preempted)
        COUNT(switch_preempt);
    else
        COUNT(switch_coop);
    return switch_and_wait(next, state);
}

// The end of an upcall in the scheduler, which has decided to run `next`.
static int64_t end_in_switch(struct user_scheduler *s, struct thread *next)
{
    struct thread *self = current;
    if (self->migration.depth != 0 || (self->brand == NULL && self != s->notifier))
        return ERROR_DENIED;
    if (self->brand != NULL) {
        brand_execute_pending(self->brand);
        COUNT(finished_brands);
        user_scheduler_post(self, EVENT_BRAND_READY);
    }
    return run(next, THREAD_DORMANT);
}

static __attribute__((noinline)) int64_t switch_specially(struct user_scheduler *s,
                                                          struct thread *next, enum switch_how how)
{
    int64_t refused = how == SWITCH_LOCK_WAIT   ? wait_for_lock(s)
                      : how == SWITCH_LOCK_PASS ? pass_lock(s)
                                                : 0;
    if (refused != 0)
        return refused;
    if (next->state != THREAD_PARKED || !is_here(next))
        return ERROR_BUSY;
    return how == SWITCH_TAIL ? end_in_switch(s, next) : run(next, THREAD_PARKED);
}

// `next` is read from the page here, because an upcall between the program's decision and this call
// may change it. Any program with the handle may call, but only the scheduler's threads switch.
int64_t scheduler_switch(struct user_scheduler *s, enum switch_how how)
{
    struct thread *self = current;
    eventlog_call("scheduler_switch");
    smp_hold(&user_schedulers_lock);
    if (self->places[s->level].scheduler != s)
        return ERROR_DENIED;
    uint64_t slot = s->page->next;
    struct thread *next = slot < SCHEDULED_MAX ? s->threads[slot] : NULL;
    if (next == NULL || next->places[s->level].scheduler != s)
        return ERROR_ARGUMENT;
    if (how != SWITCH_PLAIN)
        return switch_specially(s, next, how);
    if (next == self) {
        COUNT(switch_self);
        return 0;
    }
    if (next->state != THREAD_PARKED || !is_here(next))
        return ERROR_BUSY;
    return run(next, THREAD_PARKED);
}

struct user_scheduler *user_scheduler_common(const struct thread *a, const struct thread *b)
{
    struct user_scheduler *common = NULL;
    for (int level = 0; level < SCHEDULER_LEVELS; level++) {
        struct user_scheduler *s = a->places[level].scheduler;
        if (s == NULL || s != b->places[level].scheduler)
            break;
        common = s;
    }
    return common;
}

// Appends the slot's event to the list, unless it is in it. The program can write the page, so the
// kernel uses no slot that it reads from it.
static inline void append(struct user_scheduler *s, uint64_t slot)
{
    struct scheduler_event *event = s->page->event;
    if (slot == s->tail || event[slot].next != 0)
        return;
    event[s->tail].next = slot;
    s->tail = slot;
}

void user_scheduler_post(const struct thread *t, uint64_t flag)
{
    for (const struct place *at = t->places;
         at < t->places + SCHEDULER_LEVELS && at->scheduler != NULL; at++) {
        at->scheduler->page->event[at->slot].flags |= flag;
        append(at->scheduler, at->slot);
    }
}

uint64_t user_scheduler_urgency(const struct user_scheduler *s, const struct thread *t)
{
    return s->page->event[t->places[s->level].slot].urgency;
}

#if CONFIG_ACCOUNTING
// One time for all: each run of an accounted thread begins and ends with a switch that sets it.
static uint64_t charged_until_cyc HOT_DATA;

int64_t scheduler_account(struct user_scheduler *s, uint64_t slot, uint64_t on)
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
    for (const struct place *at = from->places;
         at < from->places + SCHEDULER_LEVELS && at->scheduler != NULL; at++) {
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
int64_t scheduler_account(struct user_scheduler *s, uint64_t slot, uint64_t on)
{
    (void)s;
    (void)slot;
    (void)on;
    return ERROR_CALL;
}
#endif
#endif
