// SPDX-License-Identifier: BSD-2-Clause
//
// Coroutines of one thread: they hand the processor to each other, and are never preempted.
// Freestanding; the caller provides all memory, stacks included. A set belongs to one thread; its
// root is the caller of cyc_coroutines_init(), usually an event loop. Ready coroutines run first
// come, first served, the root among them, so the root runs again when all others have waited or
// yielded. The root never waits, so one of them is always ready. They share floating-point modes.
#ifndef CYC_COROUTINE_H
#define CYC_COROUTINE_H

#include <stddef.h>
#include <stdint.h>

#define CYC_CHANNELS 64
#define CYC_STACK_BYTES_MIN 512 // for a body that calls nothing deep

struct cyc_coroutines;

struct cyc_coroutine {
    void *place;                // its stack pointer while it does not run
    struct cyc_coroutine *next; // in its queue
    struct cyc_coroutines *set;
    void (*body)(void *arg);
    void *arg;
    int finished; // its body has returned: its memory and stack are the caller's again
};

// First in, first out.
struct cyc_coroutine_queue {
    struct cyc_coroutine *head, *tail;
};

// Binary. Zeroed is valid: not given, nobody waits.
struct cyc_coroutine_semaphore {
    int given;
    struct cyc_coroutine_queue waiters;
};

struct cyc_coroutines {
    struct cyc_coroutine *running;
    struct cyc_coroutine_queue ready;
    struct cyc_coroutine root;
    struct cyc_coroutine_semaphore channels[CYC_CHANNELS];
};

// Makes the caller the root of an empty set.
void cyc_coroutines_init(struct cyc_coroutines *set);
// Puts a coroutine that will call body(arg) at the end of the ready queue; does not switch.
// 0, or -1 if the stack is smaller than CYC_STACK_BYTES_MIN.
int cyc_coroutine_spawn(struct cyc_coroutines *set, struct cyc_coroutine *coroutine, void *stack,
                        size_t stack_bytes, void (*body)(void *arg), void *arg);
// The caller goes to the end of the ready queue; its head runs, which may be the caller.
void cyc_coroutine_yield(struct cyc_coroutines *set);

// Takes the semaphore, or waits until it is handed over. 0, or -1 if the root would have to wait.
int cyc_coroutine_wait(struct cyc_coroutines *set, struct cyc_coroutine_semaphore *semaphore);
// Hands the semaphore and the processor to the longest waiter; the caller goes to the end of the
// ready queue. Without a waiter the semaphore becomes given; it does not count.
void cyc_coroutine_signal(struct cyc_coroutines *set, struct cyc_coroutine_semaphore *semaphore);

// A coroutine waits for the next notification of a channel. 0, or -1 if it is the root or the
// channel is not below CYC_CHANNELS.
int cyc_coroutine_wait_channel(struct cyc_coroutines *set, unsigned channel);
// The root passes on a notification that the kernel delivered to it. 0, or -1 if the caller is not
// the root or there is no such channel.
int cyc_coroutine_notified(struct cyc_coroutines *set, unsigned channel);

// The bare switch, without a set: saves the callee-saved registers on the caller's stack, stores
// the stack pointer in *from, and continues where `to` was left. Per architecture, in
// coroutine_switch.S.
void cyc_coroutine_switch(void **from, void *to);
// A place from which the first switch calls function(arg), which must not return.
// `stack_bytes` is at least CYC_STACK_BYTES_MIN.
void *cyc_coroutine_place(void *stack, size_t stack_bytes, void (*function)(void *arg), void *arg);

#endif
