// SPDX-License-Identifier: BSD-2-Clause
//
// The other side: answers every protected call with its message, and every notification with one.
#include <microkit.h>

void init(void)
{
}

void notified(microkit_channel channel)
{
    microkit_notify(channel);
}

microkit_msginfo protected(microkit_channel channel, microkit_msginfo message)
{
    (void)channel;
    return message;
}
