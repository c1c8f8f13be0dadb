// SPDX-License-Identifier: BSD-2-Clause
//
// Two stretches of instructions that show in what state the core is when a clock of constant rate
// times them. Freestanding.
//
// A chain of dependent instructions of one core cycle each shows how fast the core runs.
// Independent instructions show how many of them it issues per cycle: fewer while another hardware
// thread of the same core has work, which the chain does not notice because it leaves room for
// both.
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

// Rounds of 256 instructions that do nothing and need nothing.
void cyc_independent(uint64_t rounds);

#endif
