// SPDX-License-Identifier: BSD-2-Clause
//
// Synchronous messages, as seL4's endpoints: call, reply and receive, send, receive. The first MESSAGE_REGISTERS words
// travel in registers, further ones in the threads' message buffers.
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <stdint.h>

#include "list.h"
#include "message.h"
#include "object.h"

struct notification;
struct thread;

struct endpoint {
    struct object object;
    struct link receivers; // at most one of the two is not empty
    struct link senders;
    struct notification *notification; // bound: its signals end a receive here too; may be NULL
};

void endpoint_init(struct endpoint *e, uint64_t a, uint64_t b);

// `words` counts all words of the message; `m` holds those in registers, and returns those of the answer.

// Sends and waits for the reply. Returns the reply's words, or ERROR_ABORTED where the replier is gone.
int64_t endpoint_call(struct endpoint *e, uint64_t words, struct message *m);
// Replies to the caller received last, if there is one, and receives.
int64_t endpoint_reply_receive(struct endpoint *e, uint64_t words, struct message *m);
// Sends and waits until it is received; 0.
int64_t endpoint_send(struct endpoint *e, uint64_t words, const struct message *m);
// Waits for a message or a signal of the bound notification: words, or MESSAGE_SIGNAL with the signal in m->badge.
int64_t endpoint_receive(struct endpoint *e, struct message *m);

// For notification.c: ends the wait of the first receiver, if there is one, with the signal. Interrupts are off.
int endpoint_signal(struct endpoint *e, uint64_t signal);
// For thread_abort(): whoever waits for this thread's reply will not get it. Interrupts are off.
void endpoint_abandon(struct thread *t);

#endif
