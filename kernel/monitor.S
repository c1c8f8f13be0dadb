// SPDX-License-Identifier: BSD-2-Clause
//
// M mode: the first instructions after reset, and the monitor's trap vector.
#include "board.h"
#include "config.h"
#include "monitor.h"

    .section .monitor.entry, "ax"
    .globl _start
// a0 = hart, a1 = device tree; .bss is zero, as every ELF loader leaves it.
_start:
    csrr    t0, mhartid
#if CONFIG_SMP
    li      t1, HARTS_MAX
    bgeu    t0, t1, park
    la      sp, monitor_stack_top
    slli    t0, t0, MONITOR_STACK_BIT
    sub     sp, sp, t0
#else
    li      t1, BOOT_HART
    bne     t0, t1, park
    la      sp, monitor_stack_top
#endif
    mv      s0, a0
    mv      s1, a1
    call    monitor_start
    csrw    mscratch, sp            // the monitor's stack is empty between traps
    mv      a0, s0
    mv      a1, s1
    mret                            // to kernel_entry, S mode

park:                               // with no interrupt enabled, this hart never wakes
    csrw    mie, zero
1:  wfi
    j       1b

    .macro  each_but_ra_and_sp what
    .irp    r, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \what   x\r, 8 * \r(sp)
    .endr
    .endm

// Every trap saves all registers, as firmware does, because the handler may read or write any.
    .align 2
    .globl monitor_trap
monitor_trap:
    csrrw   sp, mscratch, sp
    addi    sp, sp, -MONITOR_FRAME_BYTES
    sd      x1, 8(sp)
    each_but_ra_and_sp sd
    csrr    t0, mscratch
    sd      t0, 8 * 2(sp)
    csrr    t0, mepc
    sd      t0, 0(sp)
    addi    t0, sp, MONITOR_FRAME_BYTES
    csrw    mscratch, t0
    mv      a0, sp
    call    monitor_handle
    ld      t0, 0(sp)
    csrw    mepc, t0
    ld      x1, 8(sp)
    each_but_ra_and_sp ld
    ld      sp, 8 * 2(sp)
    mret

    .section .monitor.stack, "aw", @nobits
    .align 4
    .skip   HARTS_MAX << MONITOR_STACK_BIT
monitor_stack_top:
