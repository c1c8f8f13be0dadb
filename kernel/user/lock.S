// SPDX-License-Identifier: BSD-2-Clause
//
// The lock's operations, lock.h. All threads of a scheduler run on one hart and share one address
// space or page: program order is all the order that restartable sections need. The other two also
// order memory, as a lock between harts must.

    .text
// Restartable: the last instruction of each section makes the change.
    .globl  lock_take_restartable
lock_take_restartable:
take_start:
    ld      t0, 0(a0)
    bnez    t0, 1f
    sd      a1, 0(a0)
take_end:
    li      a0, 0
    ret
1:  mv      a0, t0
    ret

    .globl  lock_release_restartable
lock_release_restartable:
release_start:
    lwu     t0, 4(a0)               // who waits
    bnez    t0, 1f
    sd      zero, 0(a0)
release_end:
    li      a0, 0
    ret
1:  ld      a0, 0(a0)
    ret

    .globl  lock_sections
lock_sections:
    lla     t0, take_start
    sd      t0, 16(a0)
    lla     t0, take_end
    sd      t0, 24(a0)
    lla     t0, release_start
    sd      t0, 32(a0)
    lla     t0, release_end
    sd      t0, 40(a0)
    ret

// Load-reserved and store-conditional. A trap in between lets the store fail.
    .globl  lock_take_reserved
lock_take_reserved:
1:  lr.d.aq t0, (a0)                // what the lock protects is not read before it is taken
    bnez    t0, 2f
    sc.d    t1, a1, (a0)
    bnez    t1, 1b
    li      a0, 0
    ret
2:  mv      a0, t0
    ret

    .globl  lock_release_reserved
lock_release_reserved:
1:  lr.d    t0, (a0)
    srli    t1, t0, 32
    bnez    t1, 2f
    sc.d.rl t1, zero, (a0)          // what the lock protects is written before it is free
    bnez    t1, 1b
    li      a0, 0
    ret
2:  mv      a0, t0
    ret

// Atomic memory operations: the word is 0 or 1.
    .globl  lock_take_swap
lock_take_swap:
    li      t0, 1
    amoswap.d.aq a0, t0, (a0)
    ret

    .globl  lock_release_swap
lock_release_swap:
    amoswap.d.rl zero, zero, (a0)
    li      a0, 0
    ret
