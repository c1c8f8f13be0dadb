// SPDX-License-Identifier: BSD-2-Clause
#include <cyc/coroutine.h>

// What cyc_coroutine_switch finds on a stack, in words from its lowest address: how many, and which
// of them hold the function, its argument, the frame pointer and the return address. See
// coroutine_switch.S.
#if defined(__x86_64__)
enum { FRAME_FUNCTION = 0, FRAME_ARG = 1, FRAME_POINTER = 5, FRAME_RETURN = 6, FRAME_WORDS = 8 };
#elif defined(__aarch64__)
enum { FRAME_FUNCTION = 0, FRAME_ARG = 1, FRAME_POINTER = 10, FRAME_RETURN = 11, FRAME_WORDS = 20 };
#elif defined(__riscv) && __riscv_xlen == 64
enum { FRAME_RETURN = 0, FRAME_FUNCTION = 1, FRAME_ARG = 2, FRAME_POINTER = 3, FRAME_WORDS = 26 };
#else
#error \
    "no coroutine switch for this architecture; add one to core/coroutine_switch.S, or leave out \
coroutine.c"
#endif

// Where a new coroutine begins: calls the function that its frame names.
void cyc_coroutine_begin(void);

void *cyc_coroutine_place(void *stack, size_t stack_bytes, void (*function)(void *arg), void *arg)
{
    uintptr_t top = ((uintptr_t)stack + stack_bytes) & ~(uintptr_t)15;
    uintptr_t *frame = (uintptr_t *)top - FRAME_WORDS;
    frame[FRAME_FUNCTION] = (uintptr_t)function;
    frame[FRAME_ARG] = (uintptr_t)arg;
    frame[FRAME_POINTER] = 0; // where a backtrace ends; the other registers start undefined
    frame[FRAME_RETURN] = (uintptr_t)cyc_coroutine_begin;
    return frame;
}

static void push(struct cyc_coroutine_queue *queue, struct cyc_coroutine *coroutine)
{
    coroutine->next = NULL;
    if (queue->head == NULL)
        queue->head = coroutine;
    else
        queue->tail->next = coroutine;
    queue->tail = coroutine;
}

static struct cyc_coroutine *pop(struct cyc_coroutine_queue *queue)
{
    struct cyc_coroutine *head = queue->head;
    queue->head = head->next;
    return head;
}

static void run(struct cyc_coroutines *set, struct cyc_coroutine *next)
{
    struct cyc_coroutine *last = set->running;
    // The only one that is ready goes on without a switch.
    if (next == last)
        return;
    set->running = next;
    cyc_coroutine_switch(&last->place, next->place);
}

// A coroutine's life from its first switch to its last.
static void live(void *arg)
{
    struct cyc_coroutine *self = arg;
    self->body(self->arg);
    self->finished = 1;
    run(self->set, pop(&self->set->ready)); // nobody switches back
}

void cyc_coroutines_init(struct cyc_coroutines *set)
{
    set->running = &set->root;
    set->root.set = set;
    set->ready.head = NULL;
    for (int i = 0; i < CYC_CHANNELS; i++) {
        set->channels[i].given = 0;
        set->channels[i].waiters.head = NULL;
    }
}

int cyc_coroutine_spawn(struct cyc_coroutines *set, struct cyc_coroutine *coroutine, void *stack,
                        size_t stack_bytes, void (*body)(void *arg), void *arg)
{
    if (stack_bytes < CYC_STACK_BYTES_MIN)
        return -1;
    // One by one, because a compiler may make a call of memset() out of an initializer.
    coroutine->next = NULL;
    coroutine->set = set;
    coroutine->body = body;
    coroutine->arg = arg;
    coroutine->finished = 0;
    coroutine->place = cyc_coroutine_place(stack, stack_bytes, live, coroutine);
    push(&set->ready, coroutine);
    return 0;
}

void cyc_coroutine_yield(struct cyc_coroutines *set)
{
    push(&set->ready, set->running);
    run(set, pop(&set->ready));
}

int cyc_coroutine_wait(struct cyc_coroutines *set, struct cyc_coroutine_semaphore *semaphore)
{
    if (semaphore->given) {
        semaphore->given = 0;
        return 0;
    }
    if (set->running == &set->root)
        return -1;
    push(&semaphore->waiters, set->running);
    run(set, pop(&set->ready));
    return 0;
}

void cyc_coroutine_signal(struct cyc_coroutines *set, struct cyc_coroutine_semaphore *semaphore)
{
    if (semaphore->waiters.head == NULL) {
        semaphore->given = 1;
        return;
    }
    // The waiter runs at once, and the caller after all that are ready already.
    push(&set->ready, set->running);
    run(set, pop(&semaphore->waiters));
}

int cyc_coroutine_wait_channel(struct cyc_coroutines *set, unsigned channel)
{
    if (channel >= CYC_CHANNELS || set->running == &set->root)
        return -1;
    return cyc_coroutine_wait(set, &set->channels[channel]);
}

int cyc_coroutine_notified(struct cyc_coroutines *set, unsigned channel)
{
    if (channel >= CYC_CHANNELS || set->running != &set->root)
        return -1;
    cyc_coroutine_signal(set, &set->channels[channel]);
    return 0;
}
