// SPDX-License-Identifier: BSD-2-Clause
//
// More than one hart (smp=biglock): one lock, which a hart holds exactly while it runs kernel code
// with interrupts off, and what harts ask of each other. With smp=off all of this is nothing.
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

#endif
