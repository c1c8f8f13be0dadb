// SPDX-License-Identifier: BSD-2-Clause
//
// Entries into the kernel, exits from it, and the switch between threads.
//
// In the kernel, tp is the running thread and sscratch is 0; in user mode, sscratch is the thread.
// While the kernel runs, sstatus is what a system call makes of it (STATUS_IN_CALL), so that no
// exit needs to write it; only kernel threads set SIE, and only user_copy sets SUM. A system call
// is a function call: the C code preserves s0-s11, so the entry saves only what C does not (pc, ra,
// sp, gp, tp). The exit clears the caller-saved registers, so that no kernel data leaks.
#include "memlayout.h"
#include "asm_offsets.h"
#include "config.h"
#include "riscv.h"

#define USER_PC THREAD_FRAME + FRAME_PC
#define USER_RA THREAD_FRAME + FRAME_RA
#define USER_GP THREAD_FRAME + FRAME_GP
#define USER_TP THREAD_FRAME + FRAME_TP
#define USER_T THREAD_FRAME + FRAME_T
#define USER_A THREAD_FRAME + FRAME_A

    .set    CALLS_END, 0
#define COUNT_CALL .set CALLS_END, CALLS_END + 1
#define CALL0(name) COUNT_CALL
#define CALL1(name, a) COUNT_CALL
#define CALL2(name, a, b) COUNT_CALL
#define CALL3(name, a, b, c) COUNT_CALL
#define CALL4(name, a, b, c, d) COUNT_CALL
#define OBJECT_CALL0(name, type) COUNT_CALL
#define OBJECT_CALL1(name, type, a) COUNT_CALL
#define OBJECT_CALL2(name, type, a, b) COUNT_CALL
#define OBJECT_CALL3(name, type, a, b, c) COUNT_CALL
#define MESSAGE_CALL(name, type) COUNT_CALL
#define SEND_CALL(name, type) COUNT_CALL
#define RECEIVE_CALL(name, type) COUNT_CALL
#define INVOKE_CALL(name, type) COUNT_CALL
#if CONFIG_USERSPACE
#include "syscalls.def"
#endif

// The lock that a hart holds while it runs the kernel with interrupts off: that of smp.c, or its own
// (smp=fine). Another hart may have stopped the thread while it waited for the lock; a call goes on
// when the thread is resumed.
    .macro  address_of_lock
#if CONFIG_FINE
    ld      t0, THREAD_HART(tp)
#else
    lla     t0, smp_lock
#endif
    .endm
    .macro  lock_kernel
#if CONFIG_SMP
    address_of_lock
    li      t1, 1
    amoadd.w t1, t1, (t0)
1:  lw      t2, LOCK_SERVING(t0)
    bne     t1, t2, 1b
    fence   r, rw
    ld      t0, THREAD_STATE(tp)
    bnez    t0, stopped_call
call_goes_on:
#endif
    .endm
    .macro  unlock_kernel
#if CONFIG_SMP
    address_of_lock
    lw      t1, LOCK_SERVING(t0)
    addi    t1, t1, 1
#if CONFIG_FINE
    ld      t2, HART_HELD(t0)       // objects' locks go first
    beqz    t2, 2f
    sd      zero, HART_HELD(t0)
1:  lw      t3, LOCK_SERVING(t2)
    ld      t4, LOCK_ALSO(t2)       // before the next holder writes it
    addi    t3, t3, 1
    fence   rw, w
    sw      t3, LOCK_SERVING(t2)
    mv      t2, t4
    bnez    t2, 1b
2:
#endif
    fence   rw, w
    sw      t1, LOCK_SERVING(t0)
#endif
    .endm

    .text
    .align 6
    .globl trap_entry
trap_entry:
    csrrw   tp, sscratch, tp
    beqz    tp, from_kernel
    sd      sp, THREAD_USER_SP(tp)
    csrr    sp, scause
    sd      ra, USER_RA(tp)         // a CSR can be used three instructions after it is read
    sd      gp, USER_GP(tp)
    addi    sp, sp, -CAUSE_USER_ECALL
    bnez    sp, from_user

    csrr    t0, sepc
    csrrw   t1, sscratch, zero
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
#if CONFIG_SMP
    addi    t0, t0, 4               // after the ecall
    sd      t0, USER_PC(tp)
    sd      t1, USER_TP(tp)
    lock_kernel
#endif
#if CONFIG_FINE
    ld      t3, THREAD_HART(tp)
    ld      t2, HART_COUNTERS(t3)   // counters[COUNT_entries]++
    addi    t2, t2, 1
    sd      t2, HART_COUNTERS(t3)
#elif CONFIG_SMP
    ld      t2, counters            // counters[COUNT_entries]++
    addi    t2, t2, 1
    sd      t2, counters, t3
#else
    ld      t2, counters            // counters[COUNT_entries]++
    addi    t0, t0, 4               // after the ecall
    sd      t0, USER_PC(tp)
    sd      t1, USER_TP(tp)
    addi    t2, t2, 1
    sd      t2, counters, t3
#endif
    li      t0, CALLS_END
    bgeu    a7, t0, no_call
    slli    t0, a7, 3
    lla     t1, calls
    add     t0, t0, t1
    ld      t0, 0(t0)
    ld      sp, THREAD_STACK(tp)
    andi    t1, t0, 1
    bnez    t1, message_call
    jalr    t0
call_return:
    li      a1, 0
    li      a2, 0
    li      a3, 0
    li      a4, 0
    li      a5, 0
// sstatus is as the call found it: it returns to user mode with interrupts on.
    .macro  leave_call
    unlock_kernel
    ld      t0, USER_PC(tp)
    ld      ra, USER_RA(tp)
    csrw    sepc, t0
    ld      gp, USER_GP(tp)
    ld      sp, THREAD_USER_SP(tp)
    csrw    sscratch, tp
    ld      tp, USER_TP(tp)
    .irp    r, t0, t1, t2, t3, t4, t5, t6, a6, a7
    li      \r, 0
    .endr
    sret
    .endm
    leave_call

// A call whose answer is a message: a1 to a5 are its badge and words. All such calls return to one
// place, so that the core predicts the return whichever of them a switch comes back from.
message_call:
    jalr    t0
    ld      a1, THREAD_BADGE(tp)
    ld      a2, THREAD_MESSAGE(tp)
    ld      a3, THREAD_MESSAGE + 8(tp)
    ld      a4, THREAD_MESSAGE + 16(tp)
    ld      a5, THREAD_MESSAGE + 24(tp)
    leave_call

// A call that continues at the entry of a component, with the caller's next four arguments in a0
// to a3.
    .macro  goes_on_elsewhere name
    .globl  invoke_\name
invoke_\name:
    sd      a1, USER_A(tp)
    sd      a2, USER_A + 8(tp)
    sd      a3, USER_A + 16(tp)
    sd      a4, USER_A + 24(tp)
    call    sys_\name
    bltz    a0, call_return
    j       enter_with_arguments
    .endm
#if CONFIG_USERSPACE
#define CALL0(name)
#define CALL1(name, a)
#define CALL2(name, a, b)
#define CALL3(name, a, b, c)
#define CALL4(name, a, b, c, d)
#define OBJECT_CALL0(name, type)
#define OBJECT_CALL1(name, type, a)
#define OBJECT_CALL2(name, type, a, b)
#define OBJECT_CALL3(name, type, a, b, c)
#define MESSAGE_CALL(name, type)
#define SEND_CALL(name, type)
#define RECEIVE_CALL(name, type)
#define INVOKE_CALL(name, type) goes_on_elsewhere name
#include "syscalls.def"

// Begins an upcall of the running thread. What it did in the kernel is abandoned, and left values
// in s0-s11.
    .globl  enter_upcall
enter_upcall:
    .irp    r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    li      \r, 0
    .endr
enter_with_arguments:
    ld      a0, USER_A(tp)
    ld      a1, USER_A + 8(tp)
    ld      a2, USER_A + 16(tp)
    ld      a3, USER_A + 24(tp)
    li      a4, 0
    li      a5, 0
    leave_call
#endif

#if CONFIG_SMP
stopped_call:
    ld      sp, THREAD_STACK(tp)
    .set    at, 0
    .irp    r, a0, a1, a2, a3, a4, a5, a6, a7
    sd      \r, USER_A + 8 * at(tp)
    .set    at, at + 1
    .endr
    li      a0, 0
    call    thread_leave
    .set    at, 0
    .irp    r, a0, a1, a2, a3, a4, a5, a6, a7
    ld      \r, USER_A + 8 * at(tp)
    .set    at, at + 1
    .endr
    j       call_goes_on
#endif

no_call:
    li      a0, -7                  // ERROR_CALL
    j       call_return

    .macro  each_caller_saved what, frame // a register's name and an offset; all but t0, ra, gp, tp
    .set    at, 1
    .irp    r, t1, t2, t3, t4, t5, t6
    \what   \r, FRAME_T + 8 * at + \frame
    .set    at, at + 1
    .endr
    .set    at, 0
    .irp    r, a0, a1, a2, a3, a4, a5, a6, a7
    \what   \r, FRAME_A + 8 * at + \frame
    .set    at, at + 1
    .endr
    .endm

// An interrupt or a fault of a user program; only sp, ra and gp are saved so far.
from_user:
    sd      t0, USER_T(tp)
    each_caller_saved sd, THREAD_FRAME(tp)
    ld      sp, THREAD_STACK(tp)
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    csrr    t0, sepc
    sd      t0, USER_PC(tp)
    csrrw   t0, sscratch, zero
    sd      t0, USER_TP(tp)
    addi    a0, tp, THREAD_FRAME
    call    trap_from_user
    .globl  enter_user
enter_user:                         // also the first run of a user thread
    unlock_kernel
    ld      t0, USER_PC(tp)
    csrw    sepc, t0
    ld      ra, USER_RA(tp)
    ld      gp, USER_GP(tp)
    ld      sp, THREAD_USER_SP(tp)
    each_caller_saved ld, THREAD_FRAME(tp)
    csrw    sscratch, tp
    ld      t0, USER_T(tp)
    ld      tp, USER_TP(tp)
    sret

// An interrupt of the kernel, or a fault in it. The swap above saved tp to sscratch. A thread that
// is switched to finds sstatus as a system call does.
from_kernel:
    csrrw   tp, sscratch, t0
    addi    t0, sp, -FRAME_BYTES
    slli    t0, t0, 63 - KERNEL_STACK_BIT
    bgez    t0, stack_overflow      // the frame would lie in the guard half of the slot
    addi    sp, sp, -FRAME_BYTES
    csrrw   t0, sscratch, zero
    sd      t0, FRAME_T(sp)
    sd      ra, FRAME_RA(sp)
    each_caller_saved sd, 0(sp)
    csrr    t0, sepc
    sd      t0, FRAME_PC(sp)
    li      t0, STATUS_IN_CALL
    csrrw   t0, sstatus, t0
    sd      t0, FRAME_STATUS(sp)
    mv      a0, sp
    call    trap_from_kernel
    ld      t0, FRAME_STATUS(sp)
    csrw    sstatus, t0
    ld      t0, FRAME_PC(sp)
    csrw    sepc, t0
    ld      ra, FRAME_RA(sp)
    each_caller_saved ld, 0(sp)
    ld      t0, FRAME_T(sp)
    addi    sp, sp, FRAME_BYTES
    sret

stack_overflow:
    csrw    sscratch, zero
    la      sp, boot_stack_top
    call    trap_stack_overflow

// context_switch(struct thread *from, struct thread *to): returns in `to`, where that last called
// it, with its result.
    .globl  context_switch
context_switch:
    sd      ra, THREAD_CONTEXT(a0)
    sd      sp, THREAD_CONTEXT + 8(a0)
    .set    at, 2
    .irp    r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    sd      \r, THREAD_CONTEXT + 8 * at(a0)
    .set    at, at + 1
    .endr
    mv      tp, a1
    ld      ra, THREAD_CONTEXT(a1)
    ld      sp, THREAD_CONTEXT + 8(a1)
    .set    at, 2
    .irp    r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    ld      \r, THREAD_CONTEXT + 8 * at(a1)
    .set    at, at + 1
    .endr
    ld      a0, THREAD_RESULT(a1)
    ret

// First run of a kernel thread: s0 = function, s1 = its argument.
    .globl  enter_kernel
enter_kernel:
    unlock_kernel
    csrsi   sstatus, STATUS_SIE
    mv      a0, s1
    jalr    s0
    call    thread_exit

// user_copy(to, from, bytes): 0, or ERROR_ARGUMENT if a page is missing or forbidden. This is the
// only code that touches user memory, with SUM set; trap_from_kernel() continues its page faults at
// user_copy_fault.
    .globl  user_copy
    .globl  user_copy_end
    .globl  user_copy_fault
user_copy:
    li      t0, STATUS_SUM
    csrs    sstatus, t0
    or      t1, a0, a1
    andi    t1, t1, 7
    bnez    t1, 2f
    li      t2, 8
1:  bltu    a2, t2, 2f
    ld      t1, 0(a1)
    sd      t1, 0(a0)
    addi    a0, a0, 8
    addi    a1, a1, 8
    addi    a2, a2, -8
    j       1b
2:  beqz    a2, 3f
    lb      t1, 0(a1)
    sb      t1, 0(a0)
    addi    a0, a0, 1
    addi    a1, a1, 1
    addi    a2, a2, -1
    j       2b
3:  csrc    sstatus, t0
    li      a0, 0
    ret
user_copy_end:
user_copy_fault:
    li      t0, STATUS_SUM
    csrc    sstatus, t0
    li      a0, -2                  // ERROR_ARGUMENT
    ret

// The kernel's first instructions in S mode: a0 = hart, a1 = device tree.
    .globl  kernel_entry
kernel_entry:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, boot_stack_top
    csrw    sscratch, zero
    li      t0, STATUS_IN_CALL
    csrw    sstatus, t0
    la      t0, trap_entry
    csrw    stvec, t0
#if CONFIG_SMP
    beqz    a0, 1f
    li      t0, KERNEL_STACK_SLOT
    mul     t0, t0, a0
    add     sp, sp, t0
    call    smp_main
1:
#endif
    mv      a0, a1
    call    kernel_main

    .section .bss
// Laid out like a slot of a kernel stack, so that the overflow test works here too.
    .align  KERNEL_STACK_BIT + 1
    .skip   KERNEL_STACK_BYTES
    .skip   KERNEL_STACK_BYTES
boot_stack_top:
#if CONFIG_SMP
    .skip   (HARTS_MAX - 1) * KERNEL_STACK_SLOT
#endif

#if CONFIG_FINE
    .section .sdata, "aw", @progbits // what image.ld calls so has contents, which no C file has here
    .align  3
    .skip   8
#endif
