// SPDX-License-Identifier: BSD-2-Clause
//
// Instructions that this machine lacks or hides.
#ifndef EMULATE_H
#define EMULATE_H

#include "frame.h"

// Both emulate the instruction that trapped, if it is one of these, and step behind it. They return
// 0 for any other instruction and change nothing then.
int emulate_illegal(struct frame *frame);
int emulate_misaligned(struct frame *frame);

#endif
