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

static uint64_t harts_let_go, harts_idle;

#if CONFIG_FINE
struct lock pages_lock;
static struct lock fence_lock;

static struct lock *lock_here(void)
{
    return &current->hart->lock;
}
#else
struct lock smp_lock __attribute__((aligned(CACHE_LINE_BYTES))); // trap.S takes it, too

static struct lock *lock_here(void)
{
    return &smp_lock;
}
#endif

// Another hart may have stopped the running thread while it waited.
void smp_enter(void)
{
    lock_take(lock_here());
    if (current->state != 0)
        thread_leave(0);
}

void smp_leave(void)
{
    smp_let_go();
    lock_give(lock_here());
}

// Called by trap.S on each hart but the first, with translation and interrupts off.
_Noreturn void smp_main(uint64_t number)
{
    while (__atomic_load_n(&harts_let_go, __ATOMIC_ACQUIRE) == 0)
        ;
    space_load_kernel();
    threads_start(number);
    smp_enter();
    timeouts_start();
    traps_start();
    __atomic_fetch_add(&harts_idle, 1, __ATOMIC_RELEASE);
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
        smp_leave();
        smp_enter();
        smp_alone();
    }
}

// The monitor serves one such call at a time.
static void fence_others(uint64_t left_satp, uint64_t loaded_satp)
{
    lock_briefly(&fence_lock);
    monitor_fence_others(left_satp, loaded_satp);
    unlock_briefly(&fence_lock);
}

void smp_fence(void)
{
    COUNT(shootdowns);
    fence_others(0, 0);
}

void smp_leave_space(const struct space *space, uint64_t kernel_satp)
{
    COUNT(shootdowns);
    for (unsigned i = 0; i < HARTS_MAX; i++)
        if (harts[i].space_loaded == space)
            harts[i].space_loaded = NULL;
    fence_others(space->satp, kernel_satp);
}

#if CONFIG_FINE
// The lock of hart 0 comes first, so that hart 0 need not give its own back.
static void take_all(void)
{
    struct hart *own = current->hart;
    unsigned first = own->number == 0;
    if (own->number != 0)
        lock_give(&own->lock);
    for (unsigned i = first; i < HARTS_MAX; i++) {
        lock_take(&harts[i].lock);
        if (&harts[i] == own)
            continue;
        harts[i].lock.also = own->held;
        own->held = &harts[i].lock;
    }
}

void smp_alone(void)
{
    if (is_alone())
        return;
    smp_let_go();
    for (take_all(); current->state != 0; take_all())
        thread_leave(0); // which gives them back
}

// The list was empty if nobody has interrupted the hart for what is in it.
void smp_deliver(struct thread *t, int64_t result)
{
    struct hart *hart = t->hart;
    list_remove(&t->link);
    t->result = result;
    lock_take(&hart->arrivals);
    int first = list_empty(&hart->arrived);
    t->waits_in = &hart->arrived;
    list_append(&hart->arrived, &t->link);
    lock_give(&hart->arrivals);
    if (first)
        interrupt(hart);
}

void smp_arrivals(void)
{
    struct link *arrived = &HERE(arrived);
    lock_take(&HERE(arrivals));
    while (!list_empty(arrived)) {
        struct thread *t = thread_first(arrived);
        t->waits_in = NULL;
        t->state &= ~THREAD_CALLING;
        thread_wake_later(t, t->result);
    }
    lock_give(&HERE(arrivals));
}
#endif
#endif
