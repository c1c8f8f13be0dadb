// SPDX-License-Identifier: BSD-2-Clause
#include "smp.h"

#if CONFIG_SMP
#include "console.h"
#include "error.h"
#include "monitor.h"
#include "sched.h"
#include "space.h"
#include "timeout.h"
#include "trap.h"

// Tickets, so that harts get the lock in the order in which they came. trap.S takes and gives it,
// too.
struct {
    uint32_t next, serving;
} smp_lock __attribute__((aligned(CACHE_LINE_BYTES)));

static uint64_t harts_let_go, harts_idle;

static void take(void)
{
    uint32_t ticket = __atomic_fetch_add(&smp_lock.next, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&smp_lock.serving, __ATOMIC_ACQUIRE) != ticket)
        ;
}

static void give(void)
{
    __atomic_store_n(&smp_lock.serving, smp_lock.serving + 1, __ATOMIC_RELEASE);
}

// Another hart may have stopped the running thread while it waited.
void smp_enter(void)
{
    take();
    if (current->state != 0)
        thread_leave(0);
}

void smp_leave(void)
{
    give();
}

// Called by trap.S on each hart but the first, with translation and interrupts off.
_Noreturn void smp_main(uint64_t number)
{
    while (__atomic_load_n(&harts_let_go, __ATOMIC_ACQUIRE) == 0)
        ;
    space_load_kernel();
    take();
    threads_start(number);
    timeouts_start();
    traps_start();
    harts_idle++;
    thread_idle();
}

void smp_start(void)
{
    __atomic_store_n(&harts_let_go, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&harts_idle, __ATOMIC_ACQUIRE) != HARTS_MAX - 1)
        ;
}

int64_t smp_place(struct thread *t, uint64_t hart)
{
    if (hart >= HARTS_MAX || (t->state & (THREAD_DEAD | THREAD_DORMANT)) == 0)
        return refuse(ERROR_ARGUMENT);
    t->hart = &harts[hart];
    return 0;
}

static void interrupt(const struct hart *hart)
{
    COUNT(ipis);
    monitor_interrupt(hart->number);
}

void smp_wake(const struct thread *t)
{
    if (t->level > t->hart->running->threshold)
        interrupt(t->hart);
}

void smp_evict(const struct thread *t)
{
    interrupt(t->hart);
    while (t->hart->running == t) {
        give();
        smp_enter();
    }
}

void smp_fence(void)
{
    COUNT(shootdowns);
    monitor_fence_others(0, 0);
}

void smp_leave_space(const struct space *space, uint64_t kernel_satp)
{
    COUNT(shootdowns);
    for (unsigned i = 0; i < HARTS_MAX; i++)
        if (harts[i].space_loaded == space)
            harts[i].space_loaded = NULL;
    monitor_fence_others(space->satp, kernel_satp);
}
#endif
