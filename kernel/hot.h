// SPDX-License-Identifier: BSD-2-Clause
//
// Data that fast paths touch: close to gp, so that an access is one instruction (at most 4 KiB in all).
#ifndef HOT_H
#define HOT_H

#define HOT __attribute__((section(".sdata")))

#endif
