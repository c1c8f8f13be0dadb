// SPDX-License-Identifier: BSD-2-Clause
//
// Protection domains, as Microkit's: a program is an event loop on one endpoint, to which its
// notification is bound. Each channel is named by the handle that leads to the other side; the
// receiver learns that number from the handle's badge.
#ifndef DOMAIN_H
#define DOMAIN_H

#include "syscall.h"

struct domain {
    struct endpoint *input;
    void (*notified)(unsigned channel);
    // Serves a call: `words` came in `message`; the answer replaces them, its words are returned.
    // NULL: serves none.
    uint64_t (*protected)(unsigned channel, uint64_t words, struct message *message);
    // Of the event loop itself; both start as zero.
    int replies; // a call was served: its answer goes out with the next receive
    uint64_t words;
    struct message message;
};

// One round of the event loop: answers the last call, waits, and serves what comes.
void domain_serve(struct domain *domain);
_Noreturn void domain_run(struct domain *domain);

static inline void domain_notify(unsigned channel)
{
    notification_signal((struct notification *)(uint64_t)channel);
}

// Returns the words of the answer, or an enum error.
static inline int64_t domain_call(unsigned channel, uint64_t words, struct message *message)
{
    return endpoint_call((struct endpoint *)(uint64_t)channel, words, message);
}

#endif
