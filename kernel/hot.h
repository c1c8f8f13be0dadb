// SPDX-License-Identifier: BSD-2-Clause
//
// What fast paths need of the compiler.
#ifndef HOT_H
#define HOT_H

// Data: close to gp, so that an access is one instruction (at most 4 KiB in all).
#define HOT __attribute__((section(".sdata")))

// A function that another ends in when its common case is not the case: kept out of it, so that the common case saves
// no register.
#define APART __attribute__((noinline))

#endif
