// SPDX-License-Identifier: BSD-2-Clause
#include "thread.h"

#include "compiler.h"
#include "memlayout.h"
#include "page_alloc.h"
#include "pi_lock.h"
#include "riscv.h"
#include "sched.h"
#include "smp.h"
#include "space.h"
#include "timeout.h"

_Static_assert(offsetof(struct thread, frame) == THREAD_FRAME, "asm_offsets.h");
_Static_assert(offsetof(struct thread, user_sp) == THREAD_USER_SP, "asm_offsets.h");
_Static_assert(offsetof(struct thread, stack) == THREAD_STACK, "asm_offsets.h");
_Static_assert(offsetof(struct thread, context) == THREAD_CONTEXT, "asm_offsets.h");
_Static_assert(offsetof(struct thread, message) == THREAD_MESSAGE, "asm_offsets.h");
_Static_assert(offsetof(struct thread, badge) == THREAD_BADGE, "asm_offsets.h");
_Static_assert(offsetof(struct thread, result) == THREAD_RESULT, "asm_offsets.h");
_Static_assert(offsetof(struct thread, state) == THREAD_STATE, "asm_offsets.h");
#if CONFIG_SMP
_Static_assert(offsetof(struct thread, hart) == THREAD_HART, "asm_offsets.h");
_Static_assert(offsetof(struct lock, serving) == LOCK_SERVING, "asm_offsets.h");
#endif
#if CONFIG_FINE
_Static_assert(offsetof(struct lock, also) == LOCK_ALSO, "asm_offsets.h");
_Static_assert(offsetof(struct hart, lock) == 0, "asm_offsets.h");
_Static_assert(offsetof(struct hart, held) == HART_HELD, "asm_offsets.h");
_Static_assert(offsetof(struct hart, counters) == HART_COUNTERS, "asm_offsets.h");
#endif
_Static_assert(offsetof(struct frame, t) == FRAME_T && offsetof(struct frame, a) == FRAME_A,
               "asm_offsets.h");
_Static_assert(sizeof(struct frame) == FRAME_BYTES && FRAME_BYTES % 16 == 0, "asm_offsets.h");

extern void enter_kernel(void); // trap.S
extern void enter_user(void);

static struct thread threads[THREADS_MAX];

#if CONFIG_SMP
struct hart harts[HARTS_MAX];
#else
#define FIELD(type, name, bounds, place) type name bounds place;
HART_STATE(FIELD)
#undef FIELD
#endif

const uint8_t highest_bit[256] = {
    [2 ... 3] = 1,   [4 ... 7] = 2,    [8 ... 15] = 3,    [16 ... 31] = 4,
    [32 ... 63] = 5, [64 ... 127] = 6, [128 ... 255] = 7,
};

static inline void ready_mark(uint64_t level)
{
    HERE(ready_levels)[level / 8] |= (uint8_t)(1u << level % 8);
    HERE(ready_groups)[level / 64] |= (uint8_t)(1u << level / 8 % 8);
    HERE(ready_top) |= (uint8_t)(1u << level / 64);
}

static inline void ready_unmark(uint64_t level)
{
    if ((HERE(ready_levels)[level / 8] &= (uint8_t)~(1u << level % 8)) == 0)
        if ((HERE(ready_groups)[level / 64] &= (uint8_t)~(1u << level / 8 % 8)) == 0)
            HERE(ready_top) &= (uint8_t)~(1u << level / 64);
}

static inline void ready_append(struct thread *t)
{
    struct hart *own = hart_visit(t);
    struct link *queue = &HERE(ready)[t->level];
    if (list_empty(queue))
        ready_mark(t->level);
    list_append(queue, &t->link);
    hart_return(own);
    if (!is_here(t))
        smp_wake(t);
}

// A preempted thread goes first among its equals: its turn is not over.
static inline void ready_prepend(struct thread *t)
{
    struct link *queue = &HERE(ready)[t->level];
    if (list_empty(queue))
        ready_mark(t->level);
    list_prepend(queue, &t->link);
}

static inline void ready_remove(struct thread *t)
{
    struct hart *own = hart_visit(t);
    list_remove(&t->link);
    if (list_empty(&HERE(ready)[t->level]))
        ready_unmark(t->level);
    hart_return(own);
}

static inline struct thread *ready_take(uint64_t level)
{
    struct thread *t = thread_first(&HERE(ready)[level]);
    list_remove(&t->link);
    if (list_empty(&HERE(ready)[level]))
        ready_unmark(level);
    return t;
}

static NOINLINE int64_t switch_renewed(struct thread *from, struct thread *to)
{
    space_load(to->space);
    return context_switch(from, to);
}

NOINLINE int64_t switch_space(struct thread *from, struct thread *to)
{
    if (space_stale(to->space))
        return switch_renewed(from, to);
    space_enter(to->space);
    return context_switch(from, to);
}

static inline int64_t switch_to_next(void)
{
    return switch_to(ready_take(highest_level()));
}

// Makes a thread ready whose state has just become 0, or switches to it.
static inline void make_ready(struct thread *t)
{
    if (is_here(t) && t->level > current->threshold) {
        ready_prepend(current);
        switch_to(t);
    } else {
        ready_append(t);
    }
}

void preemption_check(void)
{
    if (highest_level() > current->threshold) {
        ready_prepend(current);
        switch_to_next();
    }
}

static inline uint64_t own_threshold(const struct thread *t)
{
    return t->cooperative ? LEVEL_MAX : t->level;
}

void preemption_release(uint64_t was)
{
    uint64_t irq = interrupts_off();
    // The thread's level may have changed in between, so `was` need not be its threshold any more.
    current->threshold = was == LEVEL_HELD ? LEVEL_HELD : own_threshold(current);
    preemption_check();
    interrupts_restore(irq);
}

void thread_enqueue(struct link *waiters, struct thread *t)
{
    struct link *at = waiters->prev;
    t->waits_in = waiters;
    while (at != waiters && CONTAINER(at, struct thread, link)->level < t->level)
        at = at->prev;
    list_insert_before(at->next, &t->link);
}

static inline int64_t leave(uint64_t state)
{
    current->state |= state;
    return switch_to_next();
}

int64_t thread_leave(uint64_t state)
{
    return leave(state);
}

void thread_requeue(struct thread *t, struct link *waiters)
{
    list_remove(&t->link);
    if (t->timeout_armed)
        timeout_stop(t);
    thread_enqueue(waiters, t);
}

static inline int64_t block(struct link *waiters, uint64_t timeout_ticks)
{
    thread_enqueue(waiters, current);
    if (timeout_ticks != FOREVER)
        timeout_start(current, timeout_ticks);
    return leave(THREAD_BLOCKED);
}

int64_t thread_block(struct link *waiters, uint64_t timeout_ticks)
{
    return block(waiters, timeout_ticks);
}

int64_t thread_await(struct link *waiters, uint64_t timeout_ticks, uint64_t irq)
{
    int64_t result = timeout_ticks == 0 ? refuse(ERROR_BUSY) : block(waiters, timeout_ticks);
    interrupts_restore(irq);
    return result;
}

static inline void end_wait(struct thread *t, int64_t result)
{
    list_remove(&t->link);
    if (t->timeout_armed)
        timeout_stop(t);
    t->result = result;
    COUNT(wakeups);
    t->state &= ~THREAD_BLOCKED;
}

static inline void wake(struct thread *t, int64_t result)
{
    if (is_foreign(t)) {
        smp_deliver(t, result);
        return;
    }
    end_wait(t, result);
    if (t->state == 0)
        make_ready(t);
}

void thread_wake(struct thread *t, int64_t result)
{
    wake(t, result);
}

int64_t thread_deliver(struct link *waiters, int64_t result, uint64_t irq)
{
    wake(thread_first(waiters), result);
    interrupts_restore(irq);
    return 0;
}

void thread_wake_later(struct thread *t, int64_t result)
{
    if (is_foreign(t)) {
        smp_deliver(t, result);
        return;
    }
    end_wait(t, result);
    if (t->state == 0)
        ready_append(t);
}

void thread_time_out(struct thread *t)
{
    if ((t->state & THREAD_DEPLETED) == 0) {
        thread_wake(t, ERROR_TIMEOUT);
        if (t->awaited != NULL)
            pi_lock_withdraw(t);
        return;
    }
    timeout_stop(t);
    t->state &= ~THREAD_DEPLETED;
    if (t->state == 0)
        make_ready(t);
}

#if CONFIG_MCS
void thread_deplete(uint64_t ticks)
{
    current->state |= THREAD_DEPLETED;
    timeout_start(current, ticks);
    switch_to_next();
}
#endif

// Only its equals can be ready behind a preemptive thread; behind a cooperative one, anything.
// Within one level the two threads change places and the bitmap stays as it is.
int64_t thread_yield(void)
{
    uint64_t irq = interrupts_off();
    struct thread *self = current;
    struct link *equals = &HERE(ready)[self->level];
    eventlog_call("thread_yield");
    if (self->cooperative && highest_level() > self->level) {
        ready_append(self);
        switch_to_next();
    } else if (!list_empty(equals)) {
        struct thread *next = thread_first(equals);
        list_remove(&next->link);
        list_append(equals, &self->link);
        switch_to(next);
    }
    interrupts_restore(irq);
    return 0;
}

int64_t thread_sleep(uint64_t ticks)
{
    uint64_t irq = interrupts_off();
    struct link nowhere;
    list_init(&nowhere);
    eventlog_call("thread_sleep");
    thread_block(&nowhere, ticks);
    interrupts_restore(irq);
    return 0;
}

#if CONFIG_USERSPACE
// User stack and message buffer; 0 if memory is out.
static int alloc_user_stack(struct thread *t, unsigned index)
{
    t->buffer = space_buffer(t->space, index);
    t->migration.home = t->space;
    t->migration.stack_top = space_stack(t->space, index);
    return t->buffer != NULL && t->migration.stack_top != 0;
}
#endif

static int alloc_stacks(struct thread *t, unsigned index)
{
    t->stack = kernel_stack(index);
    list_init(&t->joiners);
#if CONFIG_USERSPACE
    if (t->space != NULL)
        return alloc_user_stack(t, index);
#endif
    t->buffer = page_alloc();
    return t->buffer != NULL;
}

struct thread *thread_allocate(struct space *space, const char *name)
{
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        struct thread *t = &threads[i];
        if (t->object.type != OBJECT_none)
            continue;
        *t = (struct thread){.space = space, .name = name, .state = THREAD_DEAD};
#if CONFIG_SMP
        t->hart = current->hart;
#endif
        if (!alloc_stacks(t, i))
            return NULL;
        t->object.type = OBJECT_thread;
        object_enlist(&t->object);
        return t;
    }
    return NULL;
}

void thread_free(struct thread *t)
{
    smp_await_end(t);
    if (t->state != THREAD_DEAD)
        thread_abort(t);
    if (t->space == NULL)
        page_free(t->buffer);
    object_delist(&t->object);
    t->object.type = OBJECT_none;
}

#if CONFIG_USERSPACE
static void prepare_user(struct thread *t, uint64_t entry, uint64_t argument)
{
    uint64_t buffer = USER_BUFFERS + (uint64_t)(t - threads) * PAGE_BYTES;
    t->frame = (struct frame){.pc = entry, .tp = buffer, .a[0] = argument};
    t->user_sp = t->migration.stack_top;
    t->context.ra = (uint64_t)enter_user;
    t->context.sp = t->stack;
}

int thread_stack_fault(uint64_t address)
{
    uint64_t top = current->migration.stack_top;
    if (address >= top || address < top - USER_STACK_SLOT + PAGE_BYTES)
        return 0;
    smp_hold(&current->space->object.lock);
    return space_stack(current->space, (unsigned)(current - threads)) != 0;
}
#else
int thread_stack_fault(uint64_t address)
{
    (void)address;
    return 0;
}
#endif

static void prepare_kernel(struct thread *t, uint64_t entry, uint64_t argument)
{
    t->context.ra = (uint64_t)enter_kernel;
    t->context.sp = t->stack;
    t->context.s[0] = entry;
    t->context.s[1] = argument;
}

// A new thread runs on its own context, with the budget that this one had.
static void bind_own_context(struct thread *t)
{
#if CONFIG_MCS
    if (t->own_sched_context.period_ticks == 0)
        sched_context_init(&t->own_sched_context, SLICE_DEFAULT_TICKS, SLICE_DEFAULT_TICKS, 0);
    t->sched_context = &t->own_sched_context;
#else
    (void)t;
#endif
}

int64_t thread_set_budget(struct thread *t, uint64_t budget_ticks, uint64_t period_ticks)
{
#if CONFIG_MCS
    if (budget_ticks == 0 || budget_ticks > period_ticks || period_ticks > SLICE_DEFAULT_TICKS)
        return refuse(ERROR_ARGUMENT);
    uint64_t irq = interrupts_off();
    sched_context_set_budget(&t->own_sched_context, budget_ticks, period_ticks);
    interrupts_restore(irq);
    return 0;
#else
    (void)t;
    (void)budget_ticks;
    (void)period_ticks;
    return refuse(ERROR_DENIED);
#endif
}

int64_t thread_set_passive(struct thread *t, uint64_t passive)
{
#if CONFIG_MCS
    t->passive = passive != 0;
#else
    (void)t;
    (void)passive;
#endif
    return 0;
}

int64_t thread_create(struct thread *t, uint64_t entry, uint64_t argument, uint64_t priority)
{
    eventlog_call("thread_create");
    smp_await_end(t);
    if (priority >= PRIORITIES)
        return refuse(ERROR_ARGUMENT);
    if (t->state != THREAD_DEAD)
        return refuse(ERROR_BUSY);
    t->base_level = priority + 1;
    t->level = t->base_level;
    t->threshold = own_threshold(t);
    bind_own_context(t);
#if CONFIG_USERSPACE
    if (t->space != NULL)
        prepare_user(t, entry, argument);
    else
#endif
        prepare_kernel(t, entry, argument);
    t->state = THREAD_DORMANT;
    return 0;
}

static int64_t clear_state(struct thread *t, uint64_t bit)
{
    uint64_t irq = interrupts_off();
    smp_seize(t);
    int64_t was_set = (t->state & bit) != 0;
    t->state &= ~bit;
    if (was_set && t->state == 0)
        make_ready(t);
    interrupts_restore(irq);
    return was_set ? 0 : refuse(ERROR_ARGUMENT);
}

int64_t thread_start(struct thread *t)
{
    eventlog_call("thread_start");
    return clear_state(t, THREAD_DORMANT);
}

int64_t thread_resume(struct thread *t)
{
    eventlog_call("thread_resume");
    return clear_state(t, THREAD_SUSPENDED);
}

int64_t thread_unpark(struct thread *t)
{
    return clear_state(t, THREAD_PARKED);
}

void thread_halt(struct thread *t, uint64_t bit)
{
    if (runs_elsewhere(t)) {
        t->state |= bit;
        smp_evict(t);
        return;
    }
    if (t->state == 0)
        ready_remove(t);
    t->state |= bit;
}

int64_t thread_suspend(struct thread *t)
{
    uint64_t irq = interrupts_off();
    eventlog_call("thread_suspend");
    smp_seize(t);
    if (t == current)
        thread_leave(THREAD_SUSPENDED);
    else
        thread_halt(t, THREAD_SUSPENDED);
    interrupts_restore(irq);
    return 0;
}

// Takes a thread out of whatever queue it is in.
static void leave_queues(struct thread *t)
{
    if (runs_elsewhere(t))
        thread_halt(t, THREAD_SUSPENDED);
    if (t->state == 0)
        ready_remove(t);
    else if (has_arrived(t))
        smp_forget(t);
    else if (t->state & THREAD_BLOCKED)
        list_remove(&t->link);
    if (t->timeout_armed)
        timeout_stop(t);
    if (t->awaited != NULL) {
        t->state = THREAD_DEAD; // in a deadlock its own level may change, which moves waiters
        pi_lock_withdraw(t);
    }
}

// Each kind of object gives up what it has of a thread that ends.
static inline void leave_objects(struct thread *t)
{
#define TYPE(name) name##_abandon(t);
    OBJECT_TYPES_WITH_ABANDON(TYPE)
#undef TYPE
}

int64_t thread_abort(struct thread *t)
{
    uint64_t irq = interrupts_off();
    eventlog_call("thread_abort");
    smp_alone();
    if (t->state == THREAD_DEAD) {
        interrupts_restore(irq);
        return refuse(ERROR_ARGUMENT);
    }
    uint64_t held = preemption_hold();
    if (t != current)
        leave_queues(t);
    leave_objects(t);
    t->state = THREAD_DEAD;
    pi_lock_abandon(t);
    while (!list_empty(&t->joiners))
        thread_wake_later(thread_first(&t->joiners), 0);
    if (t == current)
        thread_leave(THREAD_DEAD);
    preemption_release(held);
    interrupts_restore(irq);
    return 0;
}

int64_t thread_exit(void)
{
    return thread_abort(current);
}

int64_t thread_join(struct thread *t, uint64_t timeout_ticks)
{
    uint64_t irq = object_enter(&t->object);
    int64_t result = 0;
    eventlog_call("thread_join");
    if (t == current)
        result = refuse(ERROR_ARGUMENT);
    else if (t->state != THREAD_DEAD)
        result = timeout_ticks == 0 ? refuse(ERROR_BUSY) : thread_block(&t->joiners, timeout_ticks);
    interrupts_restore(irq);
    return result;
}

int64_t thread_set_cooperative(struct thread *t, uint64_t cooperative)
{
    t->cooperative = cooperative != 0;
    t->threshold = own_threshold(t);
    return 0;
}

void thread_set_level(struct thread *t, uint64_t level)
{
    int ready_now = t->state == 0 && t != current && !runs_elsewhere(t);
    if (ready_now)
        ready_remove(t);
    t->level = level;
    if (t->threshold != LEVEL_HELD)
        t->threshold = own_threshold(t);
    if (ready_now) {
        ready_append(t);
    } else if (t->state & THREAD_BLOCKED) {
        list_remove(&t->link);
        thread_enqueue(t->waits_in, t);
    }
}

int64_t thread_set_priority(struct thread *t, uint64_t priority)
{
    if (priority >= PRIORITIES)
        return refuse(ERROR_ARGUMENT);
    uint64_t irq = interrupts_off();
    smp_alone();
    t->base_level = priority + 1;
    pi_lock_settle(t);
    preemption_check();
    interrupts_restore(irq);
    return 0;
}

void threads_start(uint64_t hart)
{
    hart_start(hart);
    for (unsigned level = 0; level < LEVELS; level++)
        list_init(&HERE(ready)[level]);
#if CONFIG_FINE
    list_init(&HERE(arrived));
#endif
    list_init(&current->joiners);
    bind_own_context(current);
#if CONFIG_MCS
    sched_context_charged = &current->own_sched_context;
#endif
}

_Noreturn void thread_idle(void)
{
    smp_leave();
    SET_CSR(sstatus, STATUS_SIE);
    for (;;)
        smp_idle();
}
