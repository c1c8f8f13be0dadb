// SPDX-License-Identifier: BSD-2-Clause
//
// Threads and their life. All functions leave the interrupt state as they found it, and switch at
// once when they make a thread ready that is more urgent than the running one.
#ifndef THREAD_H
#define THREAD_H

#include <stdint.h>

#include "asm_offsets.h"
#include "config.h"
#include "counters.h"
#include "error.h"
#include "list.h"
#include "memlayout.h"
#include "migration.h"
#include "objects/object.h"
#include "sched_context.h"
#include "usage.h"

#define PRIORITIES 256 // 0..255, a larger number is more urgent
#define LEVEL_MAX PRIORITIES
#define LEVEL_HELD (LEVEL_MAX + 1) // a threshold that no level exceeds
#define THREADS_MAX 64

// Bits of a thread's state; 0 is running or ready.
#define THREAD_BLOCKED 1ul   // waits for an object or a time
#define THREAD_SUSPENDED 2ul // until thread_resume()
#define THREAD_DORMANT 4ul   // created, not started
#define THREAD_DEAD 8ul      // ended or never created; may be created again
#define THREAD_CALLING 16ul  // waits for a reply, in no queue
#define THREAD_UNFUNDED 32ul // has lent or given up its scheduling context (mcs=on)
#define THREAD_DEPLETED 64ul // has used up its budget, until the next refill (mcs=on)
#define THREAD_PARKED 128ul  // until a user-level scheduler or the end of an upcall runs it

// What a switch saves: the registers that a C function preserves. The order is that of trap.S.
struct context {
    uint64_t ra, sp, s[12];
};

// What a trap saves: from user mode in the thread, from the kernel on its stack. A system call
// saves the first five.
struct frame {
    uint64_t pc, status, ra, gp, tp;
    uint64_t t[7], a[8];
};

struct brand;
struct pi_lock;

struct thread {
    struct object object;
    // For trap.S; the offsets are in asm_offsets.h.
    uint64_t user_sp;
    uint64_t stack; // top of the kernel stack, where a trap from user mode begins
    struct frame frame;
    struct context context;
    uint64_t message[MESSAGE_REGISTERS]; // words in registers, received or waiting to be
    uint64_t badge;                      // of the handle through which the sender sent
    int64_t result;                      // what the waker says

    // For sched.c.
    struct link link;      // in a ready queue or among an object's waiters
    struct link *waits_in; // the waiters among which it is, while blocked
    struct space *space;   // NULL for a kernel thread, which runs in whatever space is loaded
    uint64_t state;
    uint64_t level;     // of its queue: base_level, or what pi_lock.c makes of it; 0 for idle alone
    uint64_t threshold; // only a higher level preempts it
#if CONFIG_SMP
    struct hart *hart; // where it runs
#endif
#if CONFIG_MCS
    struct sched_context *sched_context; // what it runs on; NULL while it is unfunded
    struct sched_context own_sched_context;
    uint64_t passive; // gives its own context up at its next receive
#endif
    uint64_t cooperative;
    uint64_t base_level;      // priority + 1
    uint64_t fault;           // scause of the fault that ended it, or 0
    struct link timeout_link; // in the timer queue while `timeout_armed`
    uint64_t timeout_ticks;   // deadline
    uint64_t timeout_armed;
    struct pi_lock *awaited; // the lock that it waits for, or NULL
    struct pi_lock *held;    // the locks that it owns, the latest first

    // What the object for which it waits must know.
    union {
        struct {
            struct pi_lock *lock; // to own again afterwards
        } condvar;
        struct {
            uint64_t events;
            uint64_t all; // whether it needs all of them
        } event_set;
        struct {
            uint64_t words;
            uint64_t wants_reply; // it is a call
        } send;
    } wait;

    // For endpoint.c.
    uint64_t *buffer; // words beyond the registers; a page, for user threads mapped in their space
    struct thread *caller;  // waits for this thread's reply
    struct thread *replier; // whose reply this thread waits for

    // For component.c, brand.c and user_scheduler.c.
    struct migration migration;
    struct brand *brand; // whose upcalls it runs, or NULL
    struct place places[SCHEDULER_LEVELS];
    uint64_t preempted; // parked by an interrupt, not by its own call
    uint64_t accounted; // switches to and from it are charged

    struct link joiners; // threads that wait for this one's end
    const char *name;    // "client", "peer", ...: in the event log and in messages
#if CONFIG_OBJCORE
    struct usage usage;
#endif
} __attribute__((aligned(CACHE_LINE_BYTES))); // the first line is what a system call saves

register struct thread *current __asm__("tp"); // the running thread; trap.S sets it on every entry

// Makes the boot flow of a hart its idle thread; it must then call thread_idle().
void threads_start(uint64_t hart);
_Noreturn void thread_idle(void);

// A thread with its stacks, dead until created; `space` is NULL for a kernel thread. NULL if there
// are no more threads or pages.
struct thread *thread_allocate(struct space *space, const char *name);
void thread_free(struct thread *t); // aborts it first, if it is alive

// Makes a dead thread run entry(argument), once started.
int64_t thread_create(struct thread *t, uint64_t entry, uint64_t argument, uint64_t priority);
int64_t thread_start(struct thread *t);
int64_t thread_suspend(struct thread *t);
int64_t thread_resume(struct thread *t);
int64_t thread_unpark(struct thread *t); // for component.c
int64_t thread_abort(struct thread *t);  // does not return if t is the caller
int64_t thread_exit(void);
int64_t thread_join(struct thread *t, uint64_t timeout_ticks);
int64_t thread_yield(void);
int64_t thread_sleep(uint64_t ticks);
// A cooperative thread is preempted by nobody.
int64_t thread_set_cooperative(struct thread *t, uint64_t cooperative);
// Moves it in whatever queue it is.
int64_t thread_set_priority(struct thread *t, uint64_t priority);
// With mcs=on: `budget` ticks of processor time in every `period`; if they are equal, round robin.
// ERROR_DENIED without.
int64_t thread_set_budget(struct thread *t, uint64_t budget_ticks, uint64_t period_ticks);
// With mcs=on: from its next receive on, the thread runs only on the contexts of its callers. No
// effect without.
int64_t thread_set_passive(struct thread *t, uint64_t passive);

// For trap.c: whether a page fault is the first touch of the running thread's stack in a space to
// which it came by invocation; then the page is there now.
int thread_stack_fault(uint64_t address);

// The words of a message beyond those in registers.
static inline uint64_t *message_buffer(void)
{
    return current->buffer;
}

#endif
