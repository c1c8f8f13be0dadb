// SPDX-License-Identifier: BSD-2-Clause
#include <cyc/chain.h>

#if defined(__x86_64__)
#define LINKS "add %1, %0\n\txor %1, %0\n\t"
#elif defined(__aarch64__)
#define LINKS "add %0, %0, %1\n\teor %0, %0, %1\n\t"
#elif defined(__riscv)
#define LINKS "add %0, %0, %1\n\txor %0, %0, %1\n\t"
#endif

// Each instruction needs the result of the one before it, and none reads memory.
void cyc_chain(uint64_t rounds)
{
#if CYC_CHAIN_ROUND_CYCLES > 0
    uint64_t x = 1, odd = 0x9e3779b97f4a7c15u;
    for (; rounds > 0; rounds--)
        __asm__ volatile(".rept 128\n\t" LINKS ".endr" : "+r"(x) : "r"(odd) : "cc");
#else
    (void)rounds;
#endif
}

// `nop` is the word for it on every architecture that we know.
void cyc_independent(uint64_t rounds)
{
    for (; rounds > 0; rounds--)
        __asm__ volatile(".rept 256\n\tnop\n\t.endr");
}
