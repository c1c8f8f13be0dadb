// SPDX-License-Identifier: BSD-2-Clause
//
// A chain of dependent instructions of one core cycle each: timed by a clock of constant rate, it
// tells how fast the core runs. Freestanding.
#ifndef CYC_CHAIN_H
#define CYC_CHAIN_H

#include <stdint.h>

// Core cycles of a round. Additions and exclusive ors of registers take one cycle on every core
// that we know, one that issues a single instruction at a time needs two more for the loop.
// 0: there is no chain for this architecture.
#if defined(__x86_64__) || defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)
#define CYC_CHAIN_ROUND_CYCLES 256
#else
#define CYC_CHAIN_ROUND_CYCLES 0
#endif

void cyc_chain(uint64_t rounds);

#endif
