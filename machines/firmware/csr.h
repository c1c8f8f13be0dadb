// SPDX-License-Identifier: BSD-2-Clause
//
// Control and status registers, by the RISC-V privileged specification, version 1.10 and later.
#ifndef CSR_H
#define CSR_H

#define STATUS_SIE 0x2
#define STATUS_SPIE 0x20
#define STATUS_SPP 0x100
#define STATUS_MPP_SHIFT 11
#define STATUS_MPP 0x1800
#define STATUS_FS_DIRTY 0x6000
#define STATUS_MPRV 0x20000
#define STATUS_MXR 0x80000
#define STATUS_TVM 0x100000 // satp and sfence.vma trap in S mode

#define INTERRUPT_SSI 0x2
#define INTERRUPT_STI 0x20
#define INTERRUPT_MTI 0x80
#define INTERRUPT_SEI 0x200

#define COUNTER_CYCLE 0x1
#define COUNTER_TIME 0x2
#define COUNTER_INSTRET 0x4

#define CAUSE_ILLEGAL_INSTRUCTION 2
#define CAUSE_MISALIGNED_LOAD 4
#define CAUSE_MISALIGNED_STORE 6
#define CAUSE_SUPERVISOR_ECALL 9

#ifndef __ASSEMBLER__
#define READ_CSR(name)                                                \
    ({                                                                \
        unsigned long value_;                                         \
        __asm__ volatile("csrr %0, " #name : "=r"(value_)::"memory"); \
        value_;                                                       \
    })
#define WRITE_CSR(name, value) \
    __asm__ volatile("csrw " #name ", %0" ::"rK"((unsigned long)(value)) : "memory")
#define SET_CSR(name, bits) \
    __asm__ volatile("csrs " #name ", %0" ::"rK"((unsigned long)(bits)) : "memory")
#define CLEAR_CSR(name, bits) \
    __asm__ volatile("csrc " #name ", %0" ::"rK"((unsigned long)(bits)) : "memory")
#endif

#endif
