// SPDX-License-Identifier: BSD-2-Clause
//
// Each operation is a ladder of conditions of the fast path, all checked before any state changes; whatever does not
// hold goes to the slow path beside it. Interrupts are off in all functions that take a message in registers.
#include "endpoint.h"

#include "notification.h"
#include "handle.h"
#include "riscv.h"
#include "switch.h"
#include "text.h"

#define KERNEL_BADGE 1 // kernel threads use no handle

void endpoint_init(struct endpoint *e, uint64_t a, uint64_t b)
{
    (void)a;
    (void)b;
    list_init(&e->receivers);
    list_init(&e->senders);
    e->notification = NULL;
}

// A message on its way: words in registers as the arguments of the functions below.
#define WORDS uint64_t w0, uint64_t w1, uint64_t w2, uint64_t w3
#define THE_WORDS w0, w1, w2, w3

static inline void put_words(struct thread *t, WORDS)
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

// With mcs=on the fast paths are those of a passive server: it runs on its caller's context.
#define UNFUNDED (CONFIG_MCS ? THREAD_UNFUNDED : 0)

static inline void lend(struct thread *from, struct thread *to)
{
#if CONFIG_MCS
    to->scheduling = from->scheduling;
    from->scheduling = NULL;
#else
    (void)from;
    (void)to;
#endif
}

// The same where the two are not known to be caller and passive server. `from` then waits, and may not run anyway.
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
static int64_t wait_to_send(struct endpoint *e, uint64_t badge, uint64_t words, uint64_t wants_reply, WORDS)
{
    put_words(current, THE_WORDS);
    current->badge = badge;
    current->sent_words = words;
    current->wants_reply = wants_reply;
    return thread_block(&e->senders, FOREVER);
}

static struct thread *deliver(struct endpoint *e, uint64_t badge, uint64_t words, WORDS)
{
    struct thread *receiver = thread_first(&e->receivers);
    put_words(receiver, THE_WORDS);
    receiver->badge = badge;
    copy_buffer(receiver, current, words);
    return receiver;
}

static __attribute__((noinline)) int64_t call_slowly(struct endpoint *e, uint64_t badge, uint64_t words, WORDS)
{
    count(slowpaths);
    if (words > MESSAGE_WORDS_MAX)
        return refuse(ERROR_ARGUMENT);
    if (list_empty(&e->receivers))
        return wait_to_send(e, badge, words, 1, THE_WORDS);
    struct thread *receiver = deliver(e, badge, words, THE_WORDS);
    expect_reply(current, receiver);
    lend_if_unfunded(current, receiver);
    thread_wake_later(receiver, (int64_t)words);
    return thread_wait(THREAD_CALLING);
}

static inline int64_t call(struct endpoint *e, uint64_t badge, uint64_t words, WORDS)
{
    event_call("endpoint_call");
    struct thread *receiver = thread_first(&e->receivers);
    if (list_empty(&e->receivers) || words > MESSAGE_REGISTERS || receiver->state != (THREAD_BLOCKED | UNFUNDED) ||
        !may_follow(receiver))
        return call_slowly(e, badge, words, THE_WORDS);
    list_remove(&receiver->link);
    put_words(receiver, THE_WORDS);
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
    int64_t words = (int64_t)sender->sent_words;
    memcpy(self->message, sender->message, sizeof self->message);
    self->badge = sender->badge;
    copy_buffer(self, sender, sender->sent_words);
    if (sender->wants_reply) {
        list_remove(&sender->link);
        sender->state = (sender->state & ~THREAD_BLOCKED) | THREAD_CALLING;
        expect_reply(sender, self);
        lend_if_unfunded(sender, self);
    } else {
        thread_wake(sender, 0);
    }
    return words;
}

// A passive server that waits for a call has no context: not its own any more, nor that of a caller which is gone.
static void give_up_context(struct thread *t)
{
#if CONFIG_MCS
    if (t->passive) {
        t->scheduling = NULL;
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

// The end of the caller's wait; it does not run yet.
static void release_caller(struct thread *caller, int64_t result)
{
    caller->replier->caller = NULL;
    caller->replier = NULL;
    caller->state &= ~(THREAD_CALLING | THREAD_UNFUNDED);
    list_init(&caller->link); // it stands in no queue
    thread_wake_later(caller, result);
}

// Ends the wait of the running thread's caller, if there is one, and receives. A passive server that has returned its
// context may not run on: it waits for a call, or stops for good where all it received needs no reply.
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
        result = thread_wait(THREAD_UNFUNDED);
    }
    if (current->threshold != held)
        preemption_release(held);
    return result;
}

static __attribute__((noinline)) int64_t reply_receive_slowly(struct endpoint *e, uint64_t words, WORDS)
{
    struct thread *caller = current->caller;
    count(slowpaths);
    if (words > MESSAGE_WORDS_MAX)
        return refuse(ERROR_ARGUMENT);
    if (caller != NULL) {
        put_words(caller, THE_WORDS);
        caller->badge = 0;
        copy_buffer(caller, current, words);
    }
    return answer_and_receive(e, (int64_t)words);
}

static inline int64_t reply_receive(struct endpoint *e, uint64_t words, WORDS)
{
    event_call("endpoint_reply_receive");
    struct thread *self = current, *caller = self->caller;
    if (caller == NULL || words > MESSAGE_REGISTERS || caller->state != (THREAD_CALLING | UNFUNDED) ||
        !list_empty(&e->senders) || !list_empty(&e->receivers) ||
        (e->notification != NULL && e->notification->signal != 0) || !may_follow(caller))
        return reply_receive_slowly(e, words, THE_WORDS);
    self->caller = NULL;
    caller->replier = NULL;
    put_words(caller, THE_WORDS);
    caller->badge = 0;
    caller->result = (int64_t)words;
    self->waits_in = &e->receivers;
    list_append(&e->receivers, &self->link);
    lend(self, caller);
    return hand_over(caller, THREAD_BLOCKED | UNFUNDED);
}

static int64_t send(struct endpoint *e, uint64_t badge, uint64_t words, WORDS)
{
    event_call("endpoint_send");
    if (words > MESSAGE_WORDS_MAX)
        return refuse(ERROR_ARGUMENT);
    if (list_empty(&e->receivers))
        return wait_to_send(e, badge, words, 0, THE_WORDS);
    thread_wake(deliver(e, badge, words, THE_WORDS), (int64_t)words);
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
// Takes back what `t`, which is about to end, has lent down the chain of calls; its own caller gets what it had lent.
// A holder that is just running, and so ends its own client, keeps the context until its next receive.
static void reclaim(struct thread *t)
{
    struct thread *holder = t;
    while (holder->scheduling == NULL && holder->replier != NULL)
        holder = holder->replier;
    struct scheduling_context *lent = holder->scheduling;
    if (holder != t && holder != current) {
        thread_halt(holder, THREAD_UNFUNDED);
        holder->scheduling = NULL;
    }
    if (t->caller != NULL && (t->caller->state & THREAD_UNFUNDED) != 0)
        t->caller->scheduling = lent;
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
    uint64_t irq = interrupts_off();
    event_call("endpoint_receive");
    int64_t result = answer_and_receive(e, ERROR_ABORTED); // a caller not replied to by now never will be
    take_message(m);
    interrupts_restore(irq);
    return result;
}

#if CONFIG_USERSPACE
// System calls: the message is in the registers of the call. The answer's are loaded from current->message by trap.S.

#define ENDPOINT_OR_RETURN                                                                                             \
    struct handle *named = handle_entry(handle, OBJECT_endpoint);                                                      \
    if (named == NULL)                                                                                                 \
        return refuse(ERROR_HANDLE);                                                                                   \
    struct endpoint *e = (struct endpoint *)named->object

int64_t sys_endpoint_call(uint64_t handle, uint64_t words, WORDS)
{
    ENDPOINT_OR_RETURN;
    return call(e, named->badge, words, THE_WORDS);
}

int64_t sys_endpoint_reply_receive(uint64_t handle, uint64_t words, WORDS)
{
    ENDPOINT_OR_RETURN;
    return reply_receive(e, words, THE_WORDS);
}

int64_t sys_endpoint_send(uint64_t handle, uint64_t words, WORDS)
{
    ENDPOINT_OR_RETURN;
    return send(e, named->badge, words, THE_WORDS);
}

int64_t sys_endpoint_receive(uint64_t handle)
{
    ENDPOINT_OR_RETURN;
    event_call("endpoint_receive");
    return answer_and_receive(e, ERROR_ABORTED);
}
#endif
