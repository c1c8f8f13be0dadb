// SPDX-License-Identifier: BSD-2-Clause
//
// The calls of calls.def under one name and type on both sides: in the kernel the functions themselves, in a user
// program the system calls, where a pointer to an object is a handle. Code that uses only this runs in both.
#ifndef CALLS_H
#define CALLS_H

#ifdef USER_PROGRAM
#include "user/calls.h"
#else
#include "console.h"
#include "counters.h"
#include "events.h"
#include "objects.h"
#include "thread.h"

int64_t null(void); // does nothing
#endif

#endif
