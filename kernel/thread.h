// SPDX-License-Identifier: BSD-2-Clause
//
// Threads and the scheduler. All functions leave the interrupt state as they found it, and switch at once when
// they make a thread ready that is more urgent than the running one (unless that one is cooperative).
#ifndef THREAD_H
#define THREAD_H

#include "layout.h"

#ifndef __ASSEMBLER__
#include <stdint.h>

#include "board.h"
#include "component.h"
#include "config.h"
#include "counters.h"
#include "error.h"
#include "list.h"
#include "object.h"
#include "scheduler.h"
#include "scheduling.h"
#include "usage.h"

#define PRIORITIES 256 // 0..255, a larger number is more urgent
#define LEVEL_MAX PRIORITIES
#define LEVEL_HELD (LEVEL_MAX + 1) // threshold that no level exceeds
#define THREADS_MAX 64

// Bits of a thread's state; 0 is running or ready.
#define THREAD_BLOCKED 1ul   // waits for an object or a time
#define THREAD_CALLING 16ul  // waits for a reply, in no queue
#define THREAD_UNFUNDED 32ul // has lent or given up its scheduling context (mcs=on)
#define THREAD_DEPLETED 64ul // has used up its budget, until the next refill (mcs=on)
#define THREAD_SUSPENDED 2ul // until thread_resume()
#define THREAD_DORMANT 4ul   // created, not started
#define THREAD_PARKED 128ul  // runs when a user-level scheduler or the end of an upcall says so
#define THREAD_DEAD 8ul      // ended or never created; may be created again

// What a switch keeps: the registers that a C function preserves. Order as in trap.S.
struct context {
    uint64_t ra, sp, s[12];
};

// What a trap keeps: from user mode in the thread, of the kernel on its stack. A system call needs the first five.
struct frame {
    uint64_t pc, status, ra, gp, tp;
    uint64_t t[7], a[8];
};

struct mutex;
struct brand;
struct space;

struct thread {
    struct object object;
    // Read by trap.S; the offsets are in layout.h.
    uint64_t user_sp;
    uint64_t stack; // top of the kernel stack, where a trap from user mode begins
    struct frame frame;
    struct context context;
    uint64_t message[MESSAGE_REGISTERS]; // words in registers, received or waiting to be
    uint64_t badge;                      // what the receiver learns of the sender
    int64_t result; // what the waker says
    // The scheduler's.
    struct link link; // in a ready queue or among an object's waiters
    struct link *waits_in; // the waiters among which it stands, while blocked
    struct space *space; // NULL for a kernel thread, which runs in whatever space is loaded
    uint64_t state;
    uint64_t level;     // where it is queued: base_level, or what mutex.c makes of it; the idle thread alone has 0
    uint64_t threshold; // only a higher level preempts: the own one, or LEVEL_MAX for a cooperative thread
#if CONFIG_MCS
    struct scheduling_context *scheduling; // what it runs on; NULL while it is unfunded
    struct scheduling_context own;
    uint64_t passive; // gives its own context up at its next receive
#endif
    uint64_t cooperative;
    uint64_t base_level; // priority + 1
    uint64_t fault; // scause of the fault that ended it, or 0
    struct link timeout_link; // in the timer queue while `timeout_armed`
    uint64_t timeout_ticks;   // deadline
    uint64_t timeout_armed;
    // What waiting needs beyond a place in a queue; each object says what it keeps here.
    uint64_t wait[4];
    struct mutex *awaited; // the mutex it waits for, or NULL
    struct mutex *held;    // the mutexes it owns, the latest first
    // Messages (endpoint.c).
    uint64_t *buffer;       // words beyond the registers; a page, for user threads mapped in their space
    uint64_t sent_words;    // of a sender that waits to be received
    uint64_t wants_reply;   // it is a call
    struct thread *caller;  // waits for this thread's reply
    struct thread *replier; // whose reply this thread waits for
    // Components and user-level scheduling (component.c, brand.c, scheduler.c).
    struct migration migration;
    struct brand *brand; // whose upcalls it runs; NULL for other threads
    struct place places[SCHEDULER_LEVELS];
    uint64_t preempted; // parked by an interrupt, not by its own call
    uint64_t accounted; // switches to and from it are
    struct link joiners; // threads that wait for this one's end
    const char *role;    // "client", "peer", ...: the name in event log and messages
#if CONFIG_OBJCORE
    struct usage usage;
#endif
} __attribute__((aligned(CACHE_LINE_BYTES))); // what a system call saves is the first line

register struct thread *current __asm__("tp"); // the running thread; trap.S sets it on every entry

extern struct thread threads[THREADS_MAX];

// Makes the boot flow the idle thread; it must then call thread_idle().
void threads_start(void);
_Noreturn void thread_idle(void);

// A thread with its stacks, dead until created; `space` NULL for a kernel thread. NULL when there are no more.
struct thread *thread_allocate(struct space *space, const char *role);
void thread_free(struct thread *t); // aborts it where need be

// Sets a dead thread up to run entry(argument). It stays dormant until started.
int64_t thread_create(struct thread *t, uint64_t entry, uint64_t argument, uint64_t priority);
int64_t thread_start(struct thread *t);
int64_t thread_suspend(struct thread *t);
int64_t thread_resume(struct thread *t);
int64_t thread_unpark(struct thread *t); // for component.c
int64_t thread_abort(struct thread *t); // does not return where t is the caller
int64_t thread_join(struct thread *t, uint64_t timeout_ticks);
int64_t thread_set_cooperative(struct thread *t, uint64_t cooperative);
int64_t thread_set_priority(struct thread *t, uint64_t priority); // moves it in whatever queue it stands
// With mcs=on: `budget` ticks of processor time in every `period`; equal: round robin. Otherwise ERROR_DENIED.
int64_t thread_set_budget(struct thread *t, uint64_t budget_ticks, uint64_t period_ticks);
// With mcs=on: from its next receive on, the thread runs only on the contexts of its callers. Otherwise without effect.
int64_t thread_set_passive(struct thread *t, uint64_t passive);
int64_t thread_yield(void);
int64_t thread_exit(void);
int64_t thread_sleep(uint64_t ticks);

// The words of a message beyond those in registers.
static inline uint64_t *message_buffer(void)
{
    return current->buffer;
}

// For objects. Interrupts must be off.

// Takes the running thread off the processor, into `waiters` by priority, first come first served among equals.
// Returns what thread_wake() was given, or ERROR_TIMEOUT.
int64_t thread_block(struct link *waiters, uint64_t timeout_ticks);
// How operations end that cannot go on at once; both restore the interrupt state `irq`. Called last, so that the
// common case of the operation saves no register.
// Waits among `waiters`; ERROR_BUSY where the caller may not wait.
int64_t thread_await(struct link *waiters, uint64_t timeout_ticks, uint64_t irq);
// Gives the first of the waiters what it waits for; returns 0.
int64_t thread_deliver(struct link *waiters, int64_t result, uint64_t irq);
// Lets a blocked thread wait in another place, without a timeout.
void thread_requeue(struct thread *t, struct link *waiters);
// Moves a thread to a level, in whatever queue it stands. Its own wish stays in base_level.
void thread_set_level(struct thread *t, uint64_t level);
// Ends the wait of a blocked thread.
void thread_wake(struct thread *t, int64_t result);
// The most urgent of the waiters, which must not be empty.
static inline struct thread *thread_first(const struct link *waiters)
{
    return CONTAINER(waiters->next, struct thread, link);
}
// Puts a thread that is not ready among the waiters: by priority, first come first served among equals.
void thread_enqueue(struct link *waiters, struct thread *t);
// Leaves the processor in the given state, to whoever is next; returns what the waker says.
int64_t thread_wait(uint64_t state);
// For timeout.c: the time that `t` waited for has come.
void thread_time_out(struct thread *t);
// Sets a bit of the state of a thread other than the running one, which takes it out of the ready queues.
void thread_halt(struct thread *t, uint64_t bit);
// For scheduling.c: the running thread leaves the processor for `ticks`.
void thread_deplete(uint64_t ticks);
// thread_wake() that never switches, for a caller that is about to wait itself.
void thread_wake_later(struct thread *t, int64_t result);
// Nothing preempts the running thread between hold and release; wakes take effect at the release. They nest.
static inline uint64_t preemption_hold(void)
{
    uint64_t was = current->threshold;
    current->threshold = LEVEL_HELD;
    return was;
}
void preemption_release(uint64_t was);
// Lets a more urgent ready thread run, where the running thread's level has fallen.
void preemption_check(void);

#endif
#endif
