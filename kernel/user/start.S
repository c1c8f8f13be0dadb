// SPDX-License-Identifier: BSD-2-Clause
//
// How the user image begins: what the kernel must know of it, and where every thread that the director makes starts.
    .section .image, "a"
    .quad   start, text_end, rodata_end, data_end, bss_end

    .text
    .globl  start
start:                              // a0 = role
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    call    program_main
    j       program_exit
