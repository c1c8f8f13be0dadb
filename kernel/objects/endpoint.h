// SPDX-License-Identifier: BSD-2-Clause
//
// Synchronous messages, as seL4's endpoints. The first MESSAGE_REGISTERS words are in registers,
// the others in the threads' message buffers.
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

// `words` counts all words of the message; `m` holds those in registers, and those of the answer on
// return.

// Sends and waits for the reply. Returns the reply's words, or ERROR_ABORTED if the replier
// has ended.
int64_t endpoint_call(struct endpoint *e, uint64_t words, struct message *m);
// Replies to the last caller, if there is one, and receives.
int64_t endpoint_reply_receive(struct endpoint *e, uint64_t words, struct message *m);
// Sends and waits until it is received; 0.
int64_t endpoint_send(struct endpoint *e, uint64_t words, const struct message *m);
// Waits for a message or a signal of the bound notification: words, or MESSAGE_SIGNAL with the
// signal in m->badge.
int64_t endpoint_receive(struct endpoint *e, struct message *m);

// For notification.c: ends the wait of the first receiver with the signal; 0 if there is none.
// Interrupts are off.
int endpoint_signal(struct endpoint *e, uint64_t signal);

#endif
