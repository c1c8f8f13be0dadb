// SPDX-License-Identifier: BSD-2-Clause
//
// Puts the state of a stopped machine into this one and continues it: the first program of a moved
// image, run behind the moved RAM. It may be placed anywhere; the state follows it at STATE_OFFSET
// as doublewords in the order in which they are read here:
//
//   f0 to f31
//   the CSRs of the list below
//   three lists of device registers (bytes, words, doublewords): a count, then address and value
//   with SUPERVISOR: mtimecmp and satp
//   x1 to x31
//
// In M mode the moved RAM holds its firmware, too. Traps must not happen here: what mtvec names is
// that firmware's. The guest's mepc and the previous mode of its M mode are lost, and only a guest
// that was stopped in M mode would know.
//
// With SUPERVISOR, firmware that is not moved has started before and keeps M mode for itself. The
// guest's page tables then map this program, and all RAM, to where it is.

#define STATE_OFFSET 0x1000
#define STATUS_FS 0x6000
#define SBI_TIME 0x54494d45

#ifdef SUPERVISOR
#define STATUS sstatus
#else
#define STATUS mstatus
#endif

    .option arch, +d
    .section .text
    .globl _start
_start:
    auipc   s0, STATE_OFFSET >> 12
    li      t0, STATUS_FS
    csrs    STATUS, t0
    .irp    r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fld     f\r, 8 * \r(s0)
    .endr
    addi    s0, s0, 8 * 32

// mepc or sepc is where the guest goes on, the status says in which mode and comes last: it may
// switch floating point off. Addresses of the PMP come before what they are for, counters after all that
// takes long.
#ifdef SUPERVISOR
    .irp    csr, fcsr, scounteren, sscratch, stvec, scause, stval, sie, sip, sepc, sstatus
#else
    .irp    csr, fcsr, mtvec, medeleg, mideleg, mie, mip, mcounteren, scounteren, mscratch, \
                 sscratch, stvec, sepc, scause, stval, mcause, mtval, \
                 pmpaddr0, pmpaddr1, pmpaddr2, pmpaddr3, pmpaddr4, pmpaddr5, pmpaddr6, pmpaddr7, \
                 pmpcfg0, satp, mcycle, minstret, mepc, mstatus
#endif
    ld      t0, 0(s0)
    csrw    \csr, t0
    addi    s0, s0, 8
    .endr
    sfence.vma
    fence.i

    .macro  write_registers store
    ld      t0, 0(s0)
    addi    s0, s0, 8
1:  beqz    t0, 2f
    ld      t1, 0(s0)
    ld      t2, 8(s0)
    \store  t2, 0(t1)
    addi    s0, s0, 16
    addi    t0, t0, -1
    j       1b
2:
    .endm
    write_registers sb
    write_registers sw
    write_registers sd
    fence

#ifdef SUPERVISOR
    ld      a0, 0(s0)
    li      a6, 0
    li      a7, SBI_TIME
    ecall
    ld      t0, 8(s0)
    csrw    satp, t0
    sfence.vma
    addi    s0, s0, 16
#endif
    .irp    r, 1,2,3,4,5,6,7,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld      x\r, 8 * (\r - 1)(s0)
    .endr
    ld      s0, 8 * (8 - 1)(s0)
#ifdef SUPERVISOR
    sret
#else
    mret
#endif
