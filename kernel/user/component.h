// SPDX-License-Identifier: BSD-2-Clause
//
// A component's side of invocations and upcalls, and its clients'.
#ifndef USER_COMPONENT_H
#define USER_COMPONENT_H

#include "syscall.h"

// Goes into the component and returns with its result; an enum error where the kernel refuses. The
// component is not trusted to keep any register: what the compiler needs it saves, gp and tp are
// kept here. The kernel restores sp and the place.
static inline int64_t component_invoke(struct component *component, uint64_t a, uint64_t b,
                                       uint64_t c, uint64_t d)
{
    ARGUMENT(0, component);
    ARGUMENT(1, a);
    ARGUMENT(2, b);
    ARGUMENT(3, c);
    ARGUMENT(4, d);
    ARGUMENT(7, CALL_component_invoke);
    __asm__ volatile("addi sp, sp, -16\n\t"
                     "sd gp, 0(sp)\n\t"
                     "sd tp, 8(sp)\n\t"
                     "ecall\n\t"
                     "ld gp, 0(sp)\n\t"
                     "ld tp, 8(sp)\n\t"
                     "addi sp, sp, 16"
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a7)
                     :
                     : "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s0", "s1", "s2", "s3",
                       "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "ra", "memory");
    return (int64_t)a0;
}

// An entry point for component_open(): `handler` is a function of up to four uint64_t; what it
// returns goes to whoever invoked it. Registers hold what the caller left in them, so gp is set
// here. Where there is nobody to return to the thread ends.
#define COMPONENT_ENTRY(name, handler)                                                       \
    static __attribute__((naked, used)) void name(void)                                      \
    {                                                                                        \
        __asm__ volatile(".option push\n\t"                                                  \
                         ".option norelax\n\t"                                               \
                         "la gp, __global_pointer$\n\t"                                      \
                         ".option pop\n\t"                                                   \
                         "call %0\n\t"                                                       \
                         "li a7, %1\n\t"                                                     \
                         "ecall\n\t"                                                         \
                         "li a7, %2\n\t"                                                     \
                         "ecall"                                                             \
                         :                                                                   \
                         : "i"(handler), "i"(CALL_component_return), "i"(CALL_thread_exit)); \
    }

#endif
