// SPDX-License-Identifier: BSD-2-Clause
//
// The calls of syscalls.def under one name and type on both sides: in the kernel they are the
// functions, in a user program the system calls, and a pointer to an object is a handle. Code that
// uses nothing else runs on both sides.
#ifndef SYSCALL_H
#define SYSCALL_H

#ifdef USER_PROGRAM
#include "user/syscall.h"
#else
#include "console.h"
#include "counters.h"
#include "eventlog.h"
#include "objects/objects.h"
#include "thread.h"

int64_t null(void); // does nothing
#endif

#endif
