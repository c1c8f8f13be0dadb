// SPDX-License-Identifier: BSD-2-Clause
//
// Calls from the kernel (S mode) to the monitor (M mode): `ecall` with the number in a7 and the
// argument in a0. All other registers are preserved.
#ifndef MONITOR_H
#define MONITOR_H

#define MONITOR_SET_TIMER 0 // timer interrupt when mtime reaches a0; the maximum means never
#define MONITOR_SEND_IPI 1  // software interrupt to this hart
#define MONITOR_EXIT 2      // stop the machine, a0 = 0 for success
// With more than one hart:
#define MONITOR_INTERRUPT 3 // software interrupt to the hart a0
#define MONITOR_FENCE_OTHERS \
    4 // every other hart drops its translations; with a0 in satp it loads a1

// The monitor's trap frame: register x<n> at 8 * n; mepc takes the place of x0.
#define MONITOR_FRAME_BYTES 256
#define MONITOR_STACK_BIT 12 // a hart's stack is 4 KiB

#ifndef __ASSEMBLER__
#include <stdint.h>

static inline void monitor_call(uint64_t number, uint64_t argument)
{
    register uint64_t a0 __asm__("a0") = argument;
    register uint64_t a7 __asm__("a7") = number;
    __asm__ volatile("ecall" ::"r"(a0), "r"(a7) : "memory");
}

static inline void monitor_interrupt(uint64_t hart)
{
    monitor_call(MONITOR_INTERRUPT, hart);
}

static inline void monitor_fence_others(uint64_t left_satp, uint64_t loaded_satp)
{
    register uint64_t a0 __asm__("a0") = left_satp;
    register uint64_t a1 __asm__("a1") = loaded_satp;
    register uint64_t a7 __asm__("a7") = MONITOR_FENCE_OTHERS;
    __asm__ volatile("ecall" ::"r"(a0), "r"(a1), "r"(a7) : "memory");
}

static inline void monitor_set_timer(uint64_t at_ticks)
{
    monitor_call(MONITOR_SET_TIMER, at_ticks);
}

static inline void monitor_send_ipi(void)
{
    monitor_call(MONITOR_SEND_IPI, 0);
}

static inline _Noreturn void monitor_exit(uint64_t code)
{
    monitor_call(MONITOR_EXIT, code);
    for (;;)
        ;
}
#endif

#endif
