// SPDX-License-Identifier: BSD-2-Clause
//
// cyc_coroutine_switch(void **from, void *to) and the first step of a new coroutine.
// The frames are those that cyc_coroutine_place() in coroutine.c lays out; keep both in step.

    .text
    .globl cyc_coroutine_switch
    .globl cyc_coroutine_begin

#if defined(__x86_64__)
// Frame, from the stack pointer up: r12 function, r13 argument, r14, r15, rbx, rbp, return address,
// one word that leaves the stack aligned as after a call.
    .type cyc_coroutine_switch, @function
cyc_coroutine_switch:
    pushq %rbp
    pushq %rbx
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rbx
    popq %rbp
    ret
    .size cyc_coroutine_switch, . - cyc_coroutine_switch

    .type cyc_coroutine_begin, @function
cyc_coroutine_begin:
    subq $8, %rsp
    movq %r13, %rdi
    call *%r12
    ud2
    .size cyc_coroutine_begin, . - cyc_coroutine_begin

#elif defined(__aarch64__)
// Frame, from the stack pointer up: x19 function, x20 argument, x21-x28, x29, x30 return address,
// d8-d15.
    .type cyc_coroutine_switch, %function
cyc_coroutine_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size cyc_coroutine_switch, . - cyc_coroutine_switch

    .type cyc_coroutine_begin, %function
cyc_coroutine_begin:
    mov x0, x20
    blr x19
    brk #0
    .size cyc_coroutine_begin, . - cyc_coroutine_begin

#elif defined(__riscv) && __riscv_xlen == 64
// Frame, from the stack pointer up: ra return address, s1 function, s2 argument, s0, s3-s11, one
// word for alignment, fs0-fs11. The room for the latter is there whatever the floating-point ABI
// is.
    .type cyc_coroutine_switch, @function
cyc_coroutine_switch:
    addi sp, sp, -208
    sd ra, 0(sp)
    sd s1, 8(sp)
    sd s2, 16(sp)
    sd s0, 24(sp)
    sd s3, 32(sp)
    sd s4, 40(sp)
    sd s5, 48(sp)
    sd s6, 56(sp)
    sd s7, 64(sp)
    sd s8, 72(sp)
    sd s9, 80(sp)
    sd s10, 88(sp)
    sd s11, 96(sp)
#if defined(__riscv_float_abi_double)
    fsd fs0, 112(sp)
    fsd fs1, 120(sp)
    fsd fs2, 128(sp)
    fsd fs3, 136(sp)
    fsd fs4, 144(sp)
    fsd fs5, 152(sp)
    fsd fs6, 160(sp)
    fsd fs7, 168(sp)
    fsd fs8, 176(sp)
    fsd fs9, 184(sp)
    fsd fs10, 192(sp)
    fsd fs11, 200(sp)
#endif
    sd sp, 0(a0)
    mv sp, a1
    ld ra, 0(sp)
    ld s1, 8(sp)
    ld s2, 16(sp)
    ld s0, 24(sp)
    ld s3, 32(sp)
    ld s4, 40(sp)
    ld s5, 48(sp)
    ld s6, 56(sp)
    ld s7, 64(sp)
    ld s8, 72(sp)
    ld s9, 80(sp)
    ld s10, 88(sp)
    ld s11, 96(sp)
#if defined(__riscv_float_abi_double)
    fld fs0, 112(sp)
    fld fs1, 120(sp)
    fld fs2, 128(sp)
    fld fs3, 136(sp)
    fld fs4, 144(sp)
    fld fs5, 152(sp)
    fld fs6, 160(sp)
    fld fs7, 168(sp)
    fld fs8, 176(sp)
    fld fs9, 184(sp)
    fld fs10, 192(sp)
    fld fs11, 200(sp)
#endif
    addi sp, sp, 208
    ret
    .size cyc_coroutine_switch, . - cyc_coroutine_switch

    .type cyc_coroutine_begin, @function
cyc_coroutine_begin:
    mv a0, s2
    jalr s1
    ebreak
    .size cyc_coroutine_begin, . - cyc_coroutine_begin

#else
#error "no coroutine switch for this architecture"
#endif

    .section .note.GNU-stack, "", @progbits
