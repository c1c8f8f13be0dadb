// SPDX-License-Identifier: BSD-2-Clause
//
// What fast paths ask of the compiler.
#ifndef COMPILER_H
#define COMPILER_H

// Data close to gp, so that an access is one instruction; at most 4 KiB in all.
#define HOT_DATA __attribute__((section(".sdata")))

// Code in place, so that its arguments can be constants and inlined functions.
#define ALWAYS_INLINE inline __attribute__((always_inline))

// A function that another one calls last, in a case that is not the common one. Kept out of it, so
// that the common case saves no register.
#define NOINLINE __attribute__((noinline))

#endif
