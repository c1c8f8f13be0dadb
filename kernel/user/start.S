// SPDX-License-Identifier: BSD-2-Clause
//
// How the user image begins: what the kernel must know of it, and where every thread that the
// runner makes starts.
#include "memlayout.h"

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

// Where a thread starts that a program makes itself: a0 = function, which gets the shared.
    .globl  start_body
start_body:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    mv      t0, a0
    li      a0, USER_SHARED
    jalr    t0
    j       program_exit
