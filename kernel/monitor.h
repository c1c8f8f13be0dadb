// SPDX-License-Identifier: BSD-2-Clause
//
// Calls from the kernel (S mode) to the monitor (M mode): `ecall` with the number in a7 and the
// argument in a0. All other registers are preserved.
#ifndef MONITOR_H
#define MONITOR_H

#define MONITOR_SET_TIMER 0 // timer interrupt when mtime reaches a0; the maximum means never
#define MONITOR_SEND_IPI 1  // software interrupt to this hart
#define MONITOR_EXIT 2      // stop the machine, a0 = 0 for success

// The monitor's trap frame: register x<n> at 8 * n; mepc takes the place of x0.
#define MONITOR_FRAME_BYTES 256

#ifndef __ASSEMBLER__
#include <stdint.h>

static inline void monitor_call(uint64_t number, uint64_t argument)
{
    register uint64_t a0 __asm__("a0") = argument;
    register uint64_t a7 __asm__("a7") = number;
    __asm__ volatile("ecall" ::"r"(a0), "r"(a7) : "memory");
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
