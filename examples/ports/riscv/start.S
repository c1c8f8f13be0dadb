// SPDX-License-Identifier: BSD-2-Clause
//
// Reset of QEMU's machine `virt`, without firmware: machine mode, hart number in a0, device tree in
// a1. Hart 0 runs main(); the others sleep.

    .section .text.start, "ax"
    .globl _start
_start:
    bnez a0, sleep
    la sp, stack_end
    la t0, bss_start
    la t1, bss_end
clear:
    sd zero, (t0)
    addi t0, t0, 8
    bltu t0, t1, clear
    mv a0, a1
    call main
sleep:
    wfi
    j sleep
