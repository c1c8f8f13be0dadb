// SPDX-License-Identifier: BSD-2-Clause
//
// A message as its sender and receiver hold it; the same in kernel and user threads.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

#include "layout.h"

#define MESSAGE_WORDS_MAX 64
#define MESSAGE_SIGNAL 256 // result of a receive that was ended by a signal, not by a message

struct message {
    uint64_t word[MESSAGE_REGISTERS];
    uint64_t badge; // of the handle through which it was sent; set by a receive
};

#endif
