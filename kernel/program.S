// SPDX-License-Identifier: BSD-2-Clause
//
// The user image, linked into the kernel's constants.
    .section .program, "a"
    .globl  user_image
    .align  12
user_image:
    .incbin USER_IMAGE
    .align  12
