// SPDX-License-Identifier: BSD-2-Clause
#include "brand.h"

#include "component.h"
#include "handle.h"
#include "sched.h"
#include "user_scheduler.h"

void brand_init(struct brand *brand, uint64_t mediated, uint64_t pending)
{
    brand->upcall = NULL;
    brand->mediated = mediated;
    brand->pending = pending;
}

#if CONFIG_USERSPACE
// The component in which the running thread was `depth` invocations ago, or NULL.
static struct component *context(uint64_t depth)
{
    const struct migration *m = &current->migration;
    if (depth > m->depth)
        return NULL;
    return depth == 0 ? m->component : m->stack[m->depth - depth].component;
}

int64_t sys_brand_bind(uint64_t brand, uint64_t thread, uint64_t depth)
{
    struct handle *named = handle_entry(brand, OBJECT_brand),
                  *by = handle_entry(thread, OBJECT_thread);
    struct component *component = context(depth);
    if (named == NULL || by == NULL)
        return ERROR_HANDLE;
    smp_alone();
    struct brand *b = (struct brand *)named->object;
    struct thread *t = (struct thread *)by->object;
    if (component == NULL || t->places[0].scheduler == NULL)
        return ERROR_DENIED;
    if (t->brand != NULL || (t->state != THREAD_DORMANT && t->state != THREAD_PARKED))
        return ERROR_BUSY;
    b->component = component;
    b->upcall = t;
    t->brand = b;
    t->name = "upcall";
    t->state = THREAD_DORMANT;
    return 0;
}

// The scheduler runs in place of the running thread and decides. If it runs already, it will find
// the event.
static int64_t ask_scheduler(struct user_scheduler *s, const struct thread *upcall)
{
    struct thread *notifier = s->notifier;
    if (notifier == NULL || notifier->places[s->level].scheduler != s ||
        notifier->state != THREAD_DORMANT || !is_here(notifier))
        return 0;
    upcall_prepare(notifier, s->component, UPCALL_BRAND_NOTIFY, notifier->places[s->level].slot,
                   upcall->places[s->level].slot, current->places[s->level].slot);
    return switch_and_wait(notifier, THREAD_PARKED);
}

// The upcall is active: it will be executed once more.
static __attribute__((noinline)) int64_t pend(struct brand *b)
{
    b->pending++;
    COUNT(brand_pend);
    user_scheduler_post(b->upcall, EVENT_BRAND_PEND);
    return 0;
}

static __attribute__((noinline)) int64_t delay(struct brand *b, struct user_scheduler *common)
{
    b->upcall->state = THREAD_PARKED;
    user_scheduler_post(b->upcall, EVENT_BRAND_ACTIVE);
    if (common != NULL && b->mediated)
        return ask_scheduler(common, b->upcall);
    COUNT(brand_delayed);
    return 0;
}

static __attribute__((noinline)) int64_t activate(struct brand *b, uint64_t x, uint64_t y)
{
    struct thread *upcall = b->upcall;
    struct user_scheduler *common = user_scheduler_common(upcall, current);
    upcall_prepare(upcall, b->component, UPCALL_BRAND, x, y, 0);
    // The urgencies are in the scheduler's page, so that it need not run.
    if (common == NULL || b->mediated ||
        user_scheduler_urgency(common, upcall) >= user_scheduler_urgency(common, current))
        return delay(b, common);
    COUNT(brand_uc);
    return upcall_interrupt(upcall);
}

static inline int64_t raise(struct brand *b, uint64_t x, uint64_t y)
{
    const struct thread *upcall = b->upcall;
    smp_hold(&user_schedulers_lock);
    if (upcall == NULL || upcall->brand != b)
        return ERROR_ABORTED;
    return upcall->state != THREAD_DORMANT || !is_here(upcall) ? pend(b) : activate(b, x, y);
}

int64_t brand_upcall(struct brand *brand, uint64_t a, uint64_t b)
{
    eventlog_call("brand_upcall");
    return raise(brand, a, b);
}

// A thread is `preempted` until it runs again, which is here.
void brand_interrupt(void *brand)
{
    current->preempted = 1;
    raise(brand, 0, 0);
    current->preempted = 0;
}

void brand_execute_pending(struct brand *brand)
{
    if (brand->pending == 0)
        return;
    brand->pending--;
    COUNT(brand_pend_execute);
    upcall_begin(brand->component, UPCALL_BRAND, 0);
}

// Pending upcalls come first; then the interrupted thread runs on, without its scheduler. If that
// has switched to the thread meanwhile, the link is gone and the scheduler decides again.
int64_t brand_complete(struct brand *brand)
{
    struct thread *self = current, *interrupted = self->migration.interrupted;
    smp_hold(&user_schedulers_lock);
    brand_execute_pending(brand);
    if (interrupted == NULL) {
        const struct place *root = &self->places[0];
        if (root->scheduler->component == NULL)
            return ERROR_DENIED;
        COUNT(brand_completion_uc);
        upcall_begin(root->scheduler->component, UPCALL_BRAND_COMPLETE, root->slot);
    }
    COUNT(brand_sched_preempted);
    COUNT(finished_brands);
    unlink_upcall(self);
    return switch_and_wait(interrupted, THREAD_DORMANT);
}
#endif
