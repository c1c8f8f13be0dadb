// SPDX-License-Identifier: BSD-2-Clause
//
// The calls of a kernel.
#ifndef SBI_H
#define SBI_H

#include "frame.h"

// Answers a call by the RISC-V SBI specification, version 2.0: a7 names the extension, a6 the
// function, a0 to a5 are the arguments; a0 and a1 return error and value.
void serve_call(struct frame *frame);

#endif
