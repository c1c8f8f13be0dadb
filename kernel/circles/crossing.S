// SPDX-License-Identifier: BSD-2-Clause
//
// The hardware's own part of every call: from S mode to U mode and back, with nothing saved and
// nothing decided. The trap vector is the loop itself. The user page holds one `ecall`, and a trap
// leaves its address in sepc, so that the next `sret` needs no preparation. No interrupt is taken
// meanwhile: U mode cannot close itself to them, sie can.
#include "riscv.h"

// crossing_<name>(turns >= 1, user page, satp): a0, a1, a2.
    .macro  crossing name, loop
    .globl  crossing_\name
crossing_\name:
    csrrw   t4, sie, zero
    csrr    t5, sstatus
    la      t3, \loop
    csrrw   t3, stvec, t3
    li      t6, STATUS_SPP
    csrc    sstatus, t6
    csrw    sepc, a1
    li      t1, 0
    addi    a0, a0, 1               // the loop begins with its count
    j       \loop
    .endm

    .macro  load_tables write, flush // the tables in use, again
    .if     \write
    csrw    satp, a2
    .endif
    .if     \flush
    // Every translation is forgotten, as by a write of x86's cr3 without global pages.
    sfence.vma
    .endif
    .endm

    .text
    crossing one, 1f
    .align  2
1:  addi    a0, a0, -1
    beqz    a0, leave
    sret

// Two bounces a turn; t1 tells the way there from the way back.
    .macro  crossing_two name, there, back, flush
    crossing \name, 1f
    .align  2
1:  xori    t1, t1, 1
    beqz    t1, 2f
    load_tables \back, \flush * \back
    addi    a0, a0, -1
    beqz    a0, leave
    sret
2:  load_tables \there, \flush * \there
    sret
    .endm

    crossing_two two, 0, 0, 0
    crossing_two two_satp_1, 1, 0, 0
    crossing_two two_satp_1_flush, 1, 0, 1
    crossing_two two_satp_2, 1, 1, 0
    crossing_two two_satp_2_flush, 1, 1, 1

leave:
    csrw    stvec, t3
    csrw    sstatus, t5
    csrw    sie, t4
    ret
