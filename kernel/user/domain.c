// SPDX-License-Identifier: BSD-2-Clause
#include "domain.h"

// A notification may bring the signals of several channels at once.
static void serve_signals(const struct domain *d, uint64_t badge)
{
    for (unsigned channel = 0; badge != 0; channel++, badge >>= 1)
        if ((badge & 1) != 0)
            d->notified(channel);
}

static void serve_call(struct domain *d, uint64_t words)
{
    unsigned channel = 0;
    while ((d->message.badge >> channel & 1) == 0)
        channel++;
    d->words = d->protected(channel, words, &d->message);
}

void domain_serve(struct domain *d)
{
    int64_t words = d->replies ? endpoint_reply_receive(d->input, d->words, &d->message)
                               : endpoint_receive(d->input, &d->message);
    d->replies = words != MESSAGE_SIGNAL;
    if (d->replies)
        serve_call(d, (uint64_t)words);
    else
        serve_signals(d, d->message.badge);
}

_Noreturn void domain_run(struct domain *d)
{
    for (;;)
        domain_serve(d);
}
