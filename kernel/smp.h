// SPDX-License-Identifier: BSD-2-Clause
//
// More than one hart: who may touch what, and what harts ask of each other. With smp=off all of
// this is nothing. A hart that runs kernel code with interrupts off holds
//
// with smp=biglock the one lock, and may touch everything;
// with smp=fine its own lock, under which it may touch its ready queue, its timeouts and those of
// its threads that wait for no object. What it takes besides, in this order, it holds until it
// leaves the kernel, switches, or takes another of the first two kinds:
//   1. the locks of all harts, by their numbers, before which it gives its own back: smp_alone().
//      Then it may touch everything. Whatever begins at a thread and not at an object asks for
//      this, and so does what changes threads of several harts or several objects: timeouts, ends,
//      stops, inherited priorities, condition variables, what user-level schedulers set up.
//   2. one object's lock, with it the object and the threads that wait for it: object_enter(). A
//      notification that is bound has its endpoint's, an address space one for its tables.
//   3. for a few instructions, without another of this kind: the lock of a heap, the pages, the
//      fence, or the arrivals of a hart.
// What waits for an object on another hart is not made ready there: it arrives there (smp_deliver).
#ifndef SMP_H
#define SMP_H

#include "hart.h"
#include "riscv.h"

#if CONFIG_SMP
// Lets the other harts begin, each with its idle thread; returns when all have.
void smp_start(void);
// Makes `t`, which is dead or dormant, a thread of another hart. ERROR_ARGUMENT if there is none
// of this number.
int64_t smp_place(struct thread *t, uint64_t hart);
// For a thread that became ready: its hart looks whether it is more urgent than what runs there.
void smp_wake(const struct thread *t);
// Returns when `t` does not run; its state must not be 0. Gives the lock away meanwhile.
void smp_evict(const struct thread *t);
// After a change of page tables: all harts drop their translations.
void smp_fence(void);
// The same; harts on which `space` is loaded leave it. `kernel_satp` is what they load.
void smp_leave_space(const struct space *space, uint64_t kernel_satp);

#if CONFIG_FINE
// Takes the locks of all harts; the running thread may have been stopped and resumed meanwhile, and
// others have done anything: what was found out before is to be found out again.
void smp_alone(void);
// Ends the wait of a thread of another hart, which finds it among its arrivals.
void smp_deliver(struct thread *t, int64_t result);
// On a hart's software interrupt: makes its arrivals ready.
void smp_arrivals(void);

static inline int is_alone(void)
{
    return (uint64_t)HERE(held) - (uint64_t)harts < sizeof harts;
}
static inline void smp_let_go(void)
{
    struct lock *lock = HERE(held), *also;
    if (lock == NULL)
        return;
    HERE(held) = NULL;
    for (; lock != NULL; lock = also) {
        also = lock->also; // before the next holder writes it
        lock_give(lock);
    }
}
static inline void smp_hold(struct lock *lock)
{
    smp_let_go();
    lock_take(lock);
    lock->also = NULL;
    HERE(held) = lock;
}
static inline void lock_briefly(struct lock *lock)
{
    lock_take(lock);
}
static inline void unlock_briefly(struct lock *lock)
{
    lock_give(lock);
}
extern struct lock pages_lock;
#endif

// Whether idle harts sleep. The image's own choice: Rocket's cycle counter stands still in wfi, so
// that a hart whose clock is read while it waits stays awake.
extern const int smp_sleeps;

static inline void smp_idle(void)
{
    if (smp_sleeps)
        wait_for_interrupt();
}
static inline int is_here(const struct thread *t)
{
    return t->hart == current->hart;
}
static inline int runs_elsewhere(const struct thread *t)
{
    return t != current && t->hart->running == t;
}
static inline void smp_runs(struct thread *t)
{
    t->hart->running = t;
}
// What several harts use without interrupts being off anyway.
static inline uint64_t shared_enter(void)
{
    return interrupts_off();
}
static inline void shared_leave(uint64_t irq)
{
    interrupts_restore(irq);
}
#else
static inline void smp_start(void)
{
}
static inline void smp_idle(void)
{
    wait_for_interrupt();
}
static inline void smp_wake(const struct thread *t)
{
    (void)t;
}
static inline void smp_evict(const struct thread *t)
{
    (void)t;
}
static inline void smp_fence(void)
{
}
static inline void smp_leave_space(const struct space *space, uint64_t kernel_satp)
{
    (void)space;
    (void)kernel_satp;
}
static inline int is_here(const struct thread *t)
{
    (void)t;
    return 1;
}
static inline int runs_elsewhere(const struct thread *t)
{
    (void)t;
    return 0;
}
static inline void smp_runs(struct thread *t)
{
    (void)t;
}
static inline void smp_enter(void)
{
}
static inline void smp_leave(void)
{
}
static inline uint64_t shared_enter(void)
{
    return 0;
}
static inline void shared_leave(uint64_t irq)
{
    (void)irq;
}
#endif

#if CONFIG_FINE
// Whether only its own hart can make it ready.
static inline int is_foreign(const struct thread *t)
{
    return !is_here(t) && !is_alone();
}
static inline int has_arrived(const struct thread *t)
{
    return t->waits_in == &t->hart->arrived;
}
// Takes a thread that has arrived out of the arrivals.
static inline void smp_forget(struct thread *t)
{
    list_remove(&t->link);
    t->waits_in = NULL;
}
// Returns when a thread of another hart that has ended is off it.
static inline void smp_await_end(const struct thread *t)
{
    if (is_here(t))
        return;
    uint64_t irq = interrupts_off();
    smp_alone();
    interrupts_restore(irq);
}
// Before the state of a thread is changed that need not wait for anything.
static inline void smp_seize(const struct thread *t)
{
    if (!is_here(t) || (t->state & THREAD_BLOCKED) != 0)
        smp_alone();
}
#else
#define smp_alone() ((void)0)
#define smp_deliver(t, result) ((void)0)
#define smp_arrivals() ((void)0)
#define smp_let_go() ((void)0)
#define smp_hold(lock) ((void)0) // which does not exist
#define lock_briefly(lock) ((void)0)
#define unlock_briefly(lock) ((void)0)
#define is_foreign(t) 0
#define has_arrived(t) 0
#define smp_forget(t) ((void)0)
#define smp_await_end(t) ((void)0)
#define smp_seize(t) ((void)0)
#endif

// The beginning of an operation on an object; its end is interrupts_restore().
static inline uint64_t object_enter(struct object *object)
{
    uint64_t irq = interrupts_off();
    smp_hold(&object->lock);
    (void)object;
    return irq;
}

#endif
