// SPDX-License-Identifier: BSD-2-Clause
//
// What reaches into the program that trapped.
#include "csr.h"

    .option arch, +d                // the only code that knows floating-point registers
    .text
// int guest_access(uint64_t address, uint8_t *byte, int store): one byte through the translation
// and permissions of the mode that trapped, code pages included. Returns 0, or -1 if the access
// traps; mcause and mtval then say why.
    .globl  guest_access
guest_access:
    la      t0, denied
    csrrw   t0, mtvec, t0
    li      t1, STATUS_MPRV | STATUS_MXR
    bnez    a2, 1f
    csrs    mstatus, t1
    lbu     t2, 0(a0)
    csrc    mstatus, t1
    sb      t2, 0(a1)
    j       2f
1:  lbu     t2, 0(a1)
    csrs    mstatus, t1
    sb      t2, 0(a0)
    csrc    mstatus, t1
2:  csrw    mtvec, t0
    li      a0, 0
    ret
    .balign 4
denied:                             // from M mode, whose mstatus the caller restores from its frame
    csrc    mstatus, t1
    csrw    mtvec, t0
    li      a0, -1
    ret

// Both take the address of 32 doublewords.
    .globl  save_floats, load_floats
save_floats:
    .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fsd     f\r, 8 * \r(a0)
    .endr
    ret
load_floats:
    .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fld     f\r, 8 * \r(a0)
    .endr
    ret
