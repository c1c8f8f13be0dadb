// SPDX-License-Identifier: BSD-2-Clause
#include "component.h"

#include "brand.h"
#include "handle.h"
#include "memlayout.h"
#include "sched.h"
#include "user_scheduler.h"

void component_init(struct component *component, uint64_t a, uint64_t b)
{
    (void)a;
    (void)b;
    component->space = NULL;
}

#if CONFIG_USERSPACE
_Noreturn void enter_upcall(void); // trap.S

int64_t component_open(struct component *component, uint64_t entry, uint64_t upcall_entry)
{
    smp_alone();
    if (component->space != NULL)
        return ERROR_BUSY;
    component->entry = entry;
    component->upcall_entry = upcall_entry;
    component->space = current->space;
    current->migration.component = component;
    return 0;
}

// Called last, so that an invocation within one space needs no stack frame.
static __attribute__((noinline)) int64_t load_space(struct space *space, int64_t result)
{
    space_load(space);
    return result;
}

// When its call returns, the running thread continues there, with the result.
static inline int64_t move(struct component *component, struct space *space, uint64_t pc,
                           uint64_t sp, int64_t result)
{
    struct thread *self = current;
    self->migration.component = component;
    self->space = space;
    self->frame.pc = pc;
    self->user_sp = sp;
    return space == HERE(space_loaded) ? result : load_space(space, result);
}

// Where the thread's stack in that space is free; `last` is its newest invocation.
static inline uint64_t free_stack(const struct migration *m, const struct invocation *last,
                                  const struct space *space)
{
    for (; last >= m->stack; last--)
        if (last->space == space)
            return last->sp & ~15ul;
    return m->stack_top;
}

int64_t sys_component_invoke(uint64_t capability)
{
    struct handle *named = handle_entry(capability, OBJECT_component);
    struct thread *self = current;
    eventlog_call("component_invoke");
    if (named == NULL)
        return ERROR_HANDLE;
    struct component *component = (struct component *)named->object;
    struct migration *m = &self->migration;
    if (component->space == NULL)
        return ERROR_ABORTED;
    if (m->depth == INVOCATIONS_MAX)
        return ERROR_DENIED;
    struct invocation *last = &m->stack[m->depth++];
    *last = (struct invocation){m->component, self->space, self->frame.pc, self->user_sp};
    COUNT(invocations);
    return move(component, component->space, component->entry,
                free_stack(m, last, component->space), 0);
}

// A thread is dormant between its upcalls.
static __attribute__((noinline)) int64_t end_upcall(void)
{
    struct thread *self = current, *interrupted = self->migration.interrupted;
    if (interrupted == NULL)
        return ERROR_DENIED;
    unlink_upcall(self);
    return switch_and_wait(interrupted, THREAD_DORMANT);
}

int64_t sys_component_return(uint64_t value)
{
    struct migration *m = &current->migration;
    eventlog_call("component_return");
    if (m->depth == 0)
        return current->brand != NULL ? brand_complete(current->brand) : end_upcall();
    const struct invocation *back = &m->stack[--m->depth];
    return move(back->component, back->space, back->pc, back->sp, (int64_t)value);
}

int64_t sys_component_upcall(uint64_t component, uint64_t thread, uint64_t argument)
{
    struct handle *into = handle_entry(component, OBJECT_component),
                  *by = handle_entry(thread, OBJECT_thread);
    eventlog_call("component_upcall");
    if (into == NULL || by == NULL)
        return ERROR_HANDLE;
    struct thread *t = (struct thread *)by->object;
    struct component *c = (struct component *)into->object;
    if (c->space == NULL)
        return ERROR_ABORTED;
    if (t->state != THREAD_DORMANT || t->migration.home == NULL || !is_here(t))
        return ERROR_BUSY;
    t->level = current->level; // it runs in place of the caller
    t->threshold = current->level;
    COUNT(upcalls);
    upcall_prepare(t, c, UPCALL_BOOTSTRAP, argument, 0, 0);
    return upcall_interrupt(t);
}

void upcall_prepare(struct thread *t, struct component *component, enum upcall type, uint64_t a,
                    uint64_t b, uint64_t c)
{
    t->migration.component = component;
    t->migration.depth = 0;
    t->space = component->space;
    t->user_sp = t->migration.stack_top;
    t->frame.pc = component->upcall_entry;
    t->frame.a[0] = type;
    t->frame.a[1] = a;
    t->frame.a[2] = b;
    t->frame.a[3] = c;
    t->context.ra = (uint64_t)enter_upcall;
}

_Noreturn void upcall_begin(struct component *component, enum upcall type, uint64_t a)
{
    upcall_prepare(current, component, type, a, 0, 0);
    if (component->space != HERE(space_loaded))
        load_space(component->space, 0);
    enter_upcall();
}

int64_t upcall_interrupt(struct thread *upcall)
{
    upcall->migration.interrupted = current;
    current->migration.interrupter = upcall;
    return switch_and_wait(upcall, THREAD_PARKED);
}

void component_abandon(struct thread *t)
{
    struct thread *interrupted = t->migration.interrupted;
    if (t->migration.home == NULL)
        return;
    if (interrupted != NULL) {
        unlink_upcall(t);
        thread_unpark(interrupted);
    }
    if (t->migration.interrupter != NULL)
        unlink_upcall(t->migration.interrupter);
    t->migration.depth = 0;
    t->migration.component = NULL;
    t->space = t->migration.home;
    t->brand = NULL;
    for (int level = 0; level < SCHEDULER_LEVELS; level++)
        t->places[level].scheduler = NULL;
}
#endif
