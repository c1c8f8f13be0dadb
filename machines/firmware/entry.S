// SPDX-License-Identifier: BSD-2-Clause
//
// The first instructions after reset, and the trap vector. What a kernel asks for many times in
// each operation is answered here with few instructions: reading the time, and passing the timer
// interrupt on. All else goes to C with every register saved.
#include "csr.h"
#include "frame.h"
#include "platform.h"

    .section .entry, "ax"
    .globl _start
// a0 = hart, a1 = device tree, a2 = OpenSBI's struct fw_dynamic_info, or 0
_start:
    csrr    t0, mhartid
    bnez    t0, park
    la      sp, stack_top
    mv      s0, a0
    mv      s1, a1
    mv      a0, a2
    call    firmware_start
    csrw    mscratch, sp            // empty between traps
    mv      a0, s0
    mv      a1, s1
    mret                            // to the kernel

park:
    csrw    mie, zero
1:  wfi
    j       1b

// mscratch holds the top of the stack while the kernel runs; the kernel's sp meanwhile.
    .balign 4
    .globl trap
trap:
    csrrw   sp, mscratch, sp
    addi    sp, sp, -FRAME_BYTES
    sd      t0, FRAME_T0(sp)
    sd      t1, FRAME_T1(sp)
    sd      t2, FRAME_T2(sp)
    csrr    t0, mcause
    bltz    t0, interrupt
    addi    t0, t0, -CAUSE_ILLEGAL_INSTRUCTION
    bnez    t0, to_c
    csrr    t0, mtval               // the instruction, on cores that tell
    sext.w  t0, t0
    li      t1, ~0xf80              // all but rd
    and     t1, t0, t1
    li      t2, 0xffffffffc0102073  // csrr rd, time
    bne     t1, t2, to_c

read_time:
    li      t1, CLINT_MTIME
    ld      t1, 0(t1)
    srli    t0, t0, 4               // rd times 8
    andi    t0, t0, 31 << 3
    la      t2, write_register
    add     t2, t2, t0
    jr      t2

    .macro  entry_of instruction:vararg
    .balign 8
    \instruction
    j       time_read
    .endm
    .option push
    .option norvc
    .balign 8
write_register:                     // rd := t1, in 8 bytes each
    entry_of nop
    entry_of mv x1, t1
    entry_of csrw mscratch, t1      // sp
    entry_of mv x3, t1
    entry_of mv x4, t1
    entry_of sd t1, FRAME_T0(sp)
    entry_of sd t1, FRAME_T1(sp)
    entry_of sd t1, FRAME_T2(sp)
    .irp r, 8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    entry_of mv x\r, t1
    .endr
    .option pop

time_read:
    csrr    t0, mepc
    addi    t0, t0, 4
    csrw    mepc, t0
return:
    ld      t0, FRAME_T0(sp)
    ld      t1, FRAME_T1(sp)
    ld      t2, FRAME_T2(sp)
    addi    sp, sp, FRAME_BYTES
    csrrw   sp, mscratch, sp
    mret

// Only the timer interrupts this mode; it stays pending until the kernel sets it anew.
interrupt:
    li      t0, INTERRUPT_MTI
    csrc    mie, t0
    li      t0, INTERRUPT_STI
    csrs    mip, t0
    j       return

    .macro  each_saved what
    .irp    r, 1,3,4,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \what   x\r, 8 * \r(sp)
    .endr
    .endm

to_c:
    each_saved sd
    csrr    t0, mscratch
    sd      t0, FRAME_SP(sp)
    csrr    t0, mepc
    sd      t0, FRAME_PC(sp)
    csrr    t0, mstatus
    sd      t0, FRAME_STATUS(sp)
    addi    t0, sp, FRAME_BYTES
    csrw    mscratch, t0
    mv      a0, sp
    call    handle_trap
    ld      t0, FRAME_STATUS(sp)
    csrw    mstatus, t0
    ld      t0, FRAME_PC(sp)
    csrw    mepc, t0
    ld      t0, FRAME_SP(sp)
    csrw    mscratch, t0
    each_saved ld
    j       return

    .section .stack, "aw", @nobits
    .balign 16
    .skip   4096
stack_top:
