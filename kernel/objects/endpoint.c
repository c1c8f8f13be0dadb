// SPDX-License-Identifier: BSD-2-Clause
//
// Each operation first checks all conditions of its fast path, before it changes any state; if one
// fails, it calls the slow path. Interrupts are off in all functions that take a message in
// registers.
#include "endpoint.h"

#include "handle.h"
#include "notification.h"
#include "riscv.h"
#include "sched.h"
#include "string.h"

void endpoint_init(struct endpoint *e, uint64_t a, uint64_t b)
{
    (void)a;
    (void)b;
    list_init(&e->receivers);
    list_init(&e->senders);
    e->notification = NULL;
}

// The words of a message in registers, as parameters and arguments of the functions below.
#define MSG_PARAMS uint64_t w0, uint64_t w1, uint64_t w2, uint64_t w3
#define MSG_ARGS w0, w1, w2, w3

static inline void put_words(struct thread *t, MSG_PARAMS)
{
    t->message[0] = w0;
    t->message[1] = w1;
    t->message[2] = w2;
    t->message[3] = w3;
}

static inline void copy_buffer(struct thread *to, const struct thread *from, uint64_t words)
{
    if (words > MESSAGE_REGISTERS)
        memcpy(to->buffer, from->buffer, (words - MESSAGE_REGISTERS) * sizeof *to->buffer);
}

// With mcs=on the fast paths are for a passive server, which runs on its caller's context.
#define UNFUNDED (CONFIG_MCS ? THREAD_UNFUNDED : 0)

static inline void lend(struct thread *from, struct thread *to)
{
#if CONFIG_MCS
    to->sched_context = from->sched_context;
    from->sched_context = NULL;
#else
    (void)from;
    (void)to;
#endif
}

// The same if `to` is a passive server without a context. `from` waits for it, so it may not run.
static void lend_if_unfunded(struct thread *from, struct thread *to)
{
    if ((to->state & UNFUNDED) == 0)
        return;
    lend(from, to);
    to->state &= ~THREAD_UNFUNDED;
    from->state |= THREAD_UNFUNDED;
}

static inline void expect_reply(struct thread *caller, struct thread *replier)
{
    caller->replier = replier;
    replier->caller = caller;
}

// The running thread becomes a sender in the queue.
static int64_t wait_to_send(struct endpoint *e, uint64_t badge, uint64_t words,
                            uint64_t wants_reply, MSG_PARAMS)
{
    put_words(current, MSG_ARGS);
    current->badge = badge;
    current->wait.send.words = words;
    current->wait.send.wants_reply = wants_reply;
    return thread_block(&e->senders, FOREVER);
}

static struct thread *deliver(struct endpoint *e, uint64_t badge, uint64_t words, MSG_PARAMS)
{
    struct thread *receiver = thread_first(&e->receivers);
    put_words(receiver, MSG_ARGS);
    receiver->badge = badge;
    copy_buffer(receiver, current, words);
    return receiver;
}

static __attribute__((noinline)) int64_t call_slowly(struct endpoint *e, uint64_t badge,
                                                     uint64_t words, MSG_PARAMS)
{
    COUNT(slowpaths);
    if (words > MESSAGE_WORDS_MAX)
        return refuse(ERROR_ARGUMENT);
    if (list_empty(&e->receivers))
        return wait_to_send(e, badge, words, 1, MSG_ARGS);
    struct thread *receiver = deliver(e, badge, words, MSG_ARGS);
    expect_reply(current, receiver);
    lend_if_unfunded(current, receiver);
    thread_wake_later(receiver, (int64_t)words);
    return thread_leave(THREAD_CALLING);
}

static inline int64_t call(struct endpoint *e, uint64_t badge, uint64_t words, MSG_PARAMS)
{
    eventlog_call("endpoint_call");
    smp_hold(&e->object.lock);
    struct thread *receiver = thread_first(&e->receivers);
    if (list_empty(&e->receivers) || words > MESSAGE_REGISTERS ||
        receiver->state != (THREAD_BLOCKED | UNFUNDED) || !may_run_next(receiver))
        return call_slowly(e, badge, words, MSG_ARGS);
    list_remove(&receiver->link);
    put_words(receiver, MSG_ARGS);
    receiver->badge = badge;
    receiver->result = (int64_t)words;
    expect_reply(current, receiver);
    lend(current, receiver);
    return hand_over(receiver, THREAD_CALLING | UNFUNDED);
}

// Gives the message of the first sender to the running thread.
static int64_t take_first(struct endpoint *e)
{
    struct thread *self = current, *sender = thread_first(&e->senders);
    int64_t words = (int64_t)sender->wait.send.words;
    memcpy(self->message, sender->message, sizeof self->message);
    self->badge = sender->badge;
    copy_buffer(self, sender, sender->wait.send.words);
    if (sender->wait.send.wants_reply) {
        list_remove(&sender->link);
        sender->state = (sender->state & ~THREAD_BLOCKED) | THREAD_CALLING;
        expect_reply(sender, self);
        lend_if_unfunded(sender, self);
    } else {
        thread_wake(sender, 0);
    }
    return words;
}

// A passive server that waits for a call has no context: neither its own nor that of a caller which
// has ended.
static void give_up_context(struct thread *t)
{
#if CONFIG_MCS
    if (t->passive) {
        t->sched_context = NULL;
        t->state |= THREAD_UNFUNDED;
    }
#else
    (void)t;
#endif
}

static int64_t receive(struct endpoint *e)
{
    if (!list_empty(&e->senders))
        return take_first(e);
    if (e->notification != NULL && e->notification->signal != 0) {
        current->badge = e->notification->signal;
        e->notification->signal = 0;
        return MESSAGE_SIGNAL;
    }
    give_up_context(current);
    return thread_block(&e->receivers, FOREVER);
}

// Ends the caller's wait; it does not run yet.
static void release_caller(struct thread *caller, int64_t result)
{
    caller->replier->caller = NULL;
    caller->replier = NULL;
    if (!is_foreign(caller)) // its hart may not have written it yet
        caller->state &= ~(THREAD_CALLING | THREAD_UNFUNDED);
    list_init(&caller->link); // it is in no queue
    thread_wake_later(caller, result);
}

// Ends the wait of the running thread's caller, if there is one, and receives. A passive server
// that has returned its context may not run on: it waits for a call, or for ever if what it
// received needs no reply.
static int64_t answer_and_receive(struct endpoint *e, int64_t answer)
{
    struct thread *caller = current->caller;
    if (caller == NULL)
        return receive(e);
    uint64_t held = current->threshold;
    if (!list_empty(&e->senders)) // otherwise nothing below switches before it waits
        preemption_hold();
    if ((caller->state & UNFUNDED) != 0) {
        lend(current, caller);
        current->state |= THREAD_UNFUNDED;
    }
    release_caller(caller, answer);
    int64_t result = receive(e);
    if ((current->state & UNFUNDED) != 0) {
        current->result = result;
        result = thread_leave(THREAD_UNFUNDED);
    }
    if (current->threshold != held)
        preemption_release(held);
    return result;
}

static __attribute__((noinline)) int64_t reply_receive_slowly(struct endpoint *e, uint64_t words,
                                                              MSG_PARAMS)
{
    struct thread *caller = current->caller;
    COUNT(slowpaths);
    if (words > MESSAGE_WORDS_MAX)
        return refuse(ERROR_ARGUMENT);
    if (caller != NULL) {
        put_words(caller, MSG_ARGS);
        caller->badge = 0;
        copy_buffer(caller, current, words);
    }
    return answer_and_receive(e, (int64_t)words);
}

static inline int64_t reply_receive(struct endpoint *e, uint64_t words, MSG_PARAMS)
{
    eventlog_call("endpoint_reply_receive");
    smp_hold(&e->object.lock);
    struct thread *self = current, *caller = self->caller;
    if (caller == NULL || words > MESSAGE_REGISTERS ||
        caller->state != (THREAD_CALLING | UNFUNDED) || !list_empty(&e->senders) ||
        !list_empty(&e->receivers) || (e->notification != NULL && e->notification->signal != 0) ||
        !may_run_next(caller))
        return reply_receive_slowly(e, words, MSG_ARGS);
    self->caller = NULL;
    caller->replier = NULL;
    put_words(caller, MSG_ARGS);
    caller->badge = 0;
    caller->result = (int64_t)words;
    self->waits_in = &e->receivers;
    list_append(&e->receivers, &self->link);
    lend(self, caller);
    return hand_over(caller, THREAD_BLOCKED | UNFUNDED);
}

static int64_t send(struct endpoint *e, uint64_t badge, uint64_t words, MSG_PARAMS)
{
    eventlog_call("endpoint_send");
    smp_hold(&e->object.lock);
    if (words > MESSAGE_WORDS_MAX)
        return refuse(ERROR_ARGUMENT);
    if (list_empty(&e->receivers))
        return wait_to_send(e, badge, words, 0, MSG_ARGS);
    thread_wake(deliver(e, badge, words, MSG_ARGS), (int64_t)words);
    return 0;
}

int endpoint_signal(struct endpoint *e, uint64_t signal)
{
    if (list_empty(&e->receivers))
        return 0;
    struct thread *receiver = thread_first(&e->receivers);
    receiver->badge = signal;
    thread_wake(receiver, MESSAGE_SIGNAL);
    return 1;
}

#if CONFIG_MCS
// Takes back the context that `t`, which is about to end, has lent down the chain of calls, and
// returns to its caller what that has lent. A server that ends its own client is running, and keeps
// the context until its next receive.
static void reclaim(struct thread *t)
{
    struct thread *holder = t;
    while (holder->sched_context == NULL && holder->replier != NULL)
        holder = holder->replier;
    struct sched_context *lent = holder->sched_context;
    if (holder != t && holder != current) {
        thread_halt(holder, THREAD_UNFUNDED);
        holder->sched_context = NULL;
    }
    if (t->caller != NULL && (t->caller->state & THREAD_UNFUNDED) != 0)
        t->caller->sched_context = lent;
}
#endif

void endpoint_abandon(struct thread *t)
{
#if CONFIG_MCS
    reclaim(t);
#endif
    if (t->replier != NULL) {
        t->replier->caller = NULL;
        t->replier = NULL;
    }
    if (t->caller != NULL)
        release_caller(t->caller, ERROR_ABORTED);
}

// Kernel threads.

static void take_message(struct message *m)
{
    memcpy(m->word, current->message, sizeof m->word);
    m->badge = current->badge;
}

int64_t endpoint_call(struct endpoint *e, uint64_t words, struct message *m)
{
    uint64_t irq = interrupts_off();
    int64_t result = call(e, KERNEL_BADGE, words, m->word[0], m->word[1], m->word[2], m->word[3]);
    take_message(m);
    interrupts_restore(irq);
    return result;
}

int64_t endpoint_reply_receive(struct endpoint *e, uint64_t words, struct message *m)
{
    uint64_t irq = interrupts_off();
    int64_t result = reply_receive(e, words, m->word[0], m->word[1], m->word[2], m->word[3]);
    take_message(m);
    interrupts_restore(irq);
    return result;
}

int64_t endpoint_send(struct endpoint *e, uint64_t words, const struct message *m)
{
    uint64_t irq = interrupts_off();
    int64_t result = send(e, KERNEL_BADGE, words, m->word[0], m->word[1], m->word[2], m->word[3]);
    interrupts_restore(irq);
    return result;
}

int64_t endpoint_receive(struct endpoint *e, struct message *m)
{
    uint64_t irq = object_enter(&e->object);
    eventlog_call("endpoint_receive");
    int64_t result =
        answer_and_receive(e, ERROR_ABORTED); // a caller without a reply by now will not get one
    take_message(m);
    interrupts_restore(irq);
    return result;
}

#if CONFIG_USERSPACE
// System calls: the message is in the registers of the call; trap.S loads the answer from
// current->message.

#define ENDPOINT_OR_RETURN                                        \
    struct handle *named = handle_entry(handle, OBJECT_endpoint); \
    if (named == NULL)                                            \
        return refuse(ERROR_HANDLE);                              \
    struct endpoint *e = (struct endpoint *)named->object

int64_t sys_endpoint_call(uint64_t handle, uint64_t words, MSG_PARAMS)
{
    ENDPOINT_OR_RETURN;
    return call(e, named->badge, words, MSG_ARGS);
}

int64_t sys_endpoint_reply_receive(uint64_t handle, uint64_t words, MSG_PARAMS)
{
    ENDPOINT_OR_RETURN;
    return reply_receive(e, words, MSG_ARGS);
}

int64_t sys_endpoint_send(uint64_t handle, uint64_t words, MSG_PARAMS)
{
    ENDPOINT_OR_RETURN;
    return send(e, named->badge, words, MSG_ARGS);
}

int64_t sys_endpoint_receive(uint64_t handle)
{
    ENDPOINT_OR_RETURN;
    eventlog_call("endpoint_receive");
    smp_hold(&e->object.lock);
    return answer_and_receive(e, ERROR_ABORTED);
}
#endif
