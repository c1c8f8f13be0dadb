// SPDX-License-Identifier: BSD-2-Clause
//
// A restartable sequence that replaces a word shared by threads of one CPU without an atomic
// instruction. If the thread is preempted or signalled between the comparison and the store, the
// kernel restarts the sequence.
#ifndef LINUX_CIRCLES_RSEQ_H
#define LINUX_CIRCLES_RSEQ_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h> // glibc >= 2.35 registers every thread
#else
#define __rseq_size 0
#define __rseq_offset 0
#endif

// The word that must precede the address where a sequence restarts.
#ifndef RSEQ_SIG
#if defined(__x86_64__)
#define RSEQ_SIG 0x53053053
#elif defined(__aarch64__)
#define RSEQ_SIG 0xd428bc00
#else
#define RSEQ_SIG 0xf1401073
#endif
#endif

#define RSEQ_AREA_BYTES 32

// The calling thread's area, registered with the kernel; offset 8 points to the sequence in
// progress.
static void *rseq_area;

static inline char *rseq_thread_pointer(void)
{
    char *pointer;
#if defined(__x86_64__)
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
    __asm__("mv %0, tp" : "=r"(pointer));
#endif
    return pointer;
}

// The thread that uses rseq_replace calls this once. NULL, or a sentence that gives the reason why
// it cannot.
static inline const char *rseq_register(void)
{
    static _Alignas(RSEQ_AREA_BYTES) uint8_t own[RSEQ_AREA_BYTES];
    rseq_area = __rseq_size > 0 ? (void *)(rseq_thread_pointer() + __rseq_offset) : own;
    if (__rseq_size > 0 || syscall(SYS_rseq, own, RSEQ_AREA_BYTES, 0, RSEQ_SIG) == 0)
        return NULL;
    return "this kernel has no restartable sequences; build it with CONFIG_RSEQ";
}

// Between labels 1 and 2 an interruption continues at 4, which jumps back to 0, where the sequence
// is announced to the kernel again.
#define RSEQ_TABLE                                                                          \
    ".pushsection __rseq_cs, \"aw\"\n\t.balign 32\n3:\n\t.long 0, 0\n\t.quad 1f, 2f - 1f, " \
    "4f\n\t.popsection\n"
#define RSEQ_RESTART(signature, jump)                                             \
    "2:\n\t.pushsection .text.rseq_restart, \"ax\"\n\t" signature "\n4:\n\t" jump \
    " 0b\n\t.popsection\n"

// 1 if the word held `expected` and now holds `desired`; 0 if it held something else.
static inline int rseq_replace(uint32_t *word, uint32_t expected, uint32_t desired)
{
#if defined(__x86_64__)
    __asm__ goto(RSEQ_TABLE "0:\n\t"
                            "leaq 3b(%%rip), %%rax\n\t"
                            "movq %%rax, 8(%[area])\n"
                            "1:\n\t"
                            "cmpl %[expected], (%[word])\n\t"
                            "jne %l[differs]\n\t"
                            "movl %[desired], (%[word])\n" RSEQ_RESTART(
                                ".byte 0x0f, 0xb9, 0x3d\n\t.long %c[signature]",
                                "jmp") // an undefined instruction
                 :
                 : [area] "r"(rseq_area), [word] "r"(word), [expected] "r"(expected),
                   [desired] "r"(desired), [signature] "i"(RSEQ_SIG)
                 : "rax", "cc", "memory"
                 : differs);
#elif defined(__aarch64__)
    __asm__ goto(RSEQ_TABLE "0:\n\t"
                            "adrp x9, 3b\n\t"
                            "add x9, x9, :lo12:3b\n\t"
                            "str x9, [%[area], #8]\n"
                            "1:\n\t"
                            "ldr w9, [%[word]]\n\t"
                            "cmp w9, %w[expected]\n\t"
                            "b.ne %l[differs]\n\t"
                            "str %w[desired], [%[word]]\n" RSEQ_RESTART(".long %c[signature]", "b")
                 :
                 : [area] "r"(rseq_area), [word] "r"(word), [expected] "r"(expected),
                   [desired] "r"(desired), [signature] "i"(RSEQ_SIG)
                 : "x9", "cc", "memory"
                 : differs);
#elif defined(__riscv)
    __asm__ goto(
        RSEQ_TABLE "0:\n\t"
                   "lla t0, 3b\n\t"
                   "sd t0, 8(%[area])\n"
                   "1:\n\t"
                   "lw t0, 0(%[word])\n\t"
                   "bne t0, %[expected], %l[differs]\n\t"
                   "sw %[desired], 0(%[word])\n" RSEQ_RESTART(".long %[signature]", "j")
        :
        : [area] "r"(rseq_area), [word] "r"(word), [expected] "r"((int64_t)(int32_t)expected),
          [desired] "r"(desired), [signature] "i"(RSEQ_SIG)
        : "t0", "memory"
        : differs);
#else
#error "no restartable sequence for this architecture; add one to linux/circles/rseq.h"
#endif
    return 1;
differs:
    return 0;
}

#endif
