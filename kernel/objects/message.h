// SPDX-License-Identifier: BSD-2-Clause
//
// A message for its sender and receiver, in kernel and user threads alike.
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

#include "asm_offsets.h"

#define MESSAGE_WORDS_MAX 64
#define MESSAGE_SIGNAL 256 // result of a receive that a signal ended

struct message {
    uint64_t word[MESSAGE_REGISTERS];
    uint64_t badge; // of the handle through which it was sent; set by a receive
};

#endif
