// SPDX-License-Identifier: BSD-2-Clause
//
// Control and status registers and their bits, and the privileged instructions.
#ifndef RISCV_H
#define RISCV_H

#define CAUSE_INTERRUPT (1UL << 63)
#define CAUSE_ILLEGAL_INSTRUCTION 2
#define CAUSE_LOAD_ACCESS_FAULT 5
#define CAUSE_USER_ECALL 8
#define CAUSE_SUPERVISOR_ECALL 9
#define CAUSE_FETCH_PAGE_FAULT 12
#define CAUSE_LOAD_PAGE_FAULT 13
#define CAUSE_STORE_PAGE_FAULT 15
#define INTERRUPT_SUPERVISOR_SOFTWARE 1
#define INTERRUPT_MACHINE_SOFTWARE 3
#define INTERRUPT_SUPERVISOR_TIMER 5
#define INTERRUPT_MACHINE_TIMER 7

#define STATUS_SIE (1 << 1)
#define STATUS_SPIE (1 << 5)
#define STATUS_SPP (1 << 8)
#define STATUS_IN_CALL \
    STATUS_SPIE // interrupts are off; a return is to user mode, with interrupts on
#define STATUS_SUM (1 << 18)
#define STATUS_MPP_SUPERVISOR (1 << 11)
#define STATUS_MPP_MASK (3 << 11)
#define STATUS_MPRV (1 << 17)
#define STATUS_MXR (1 << 19)

#define IP_SSI (1 << INTERRUPT_SUPERVISOR_SOFTWARE)
#define IP_MSI (1 << INTERRUPT_MACHINE_SOFTWARE)
#define IP_STI (1 << INTERRUPT_SUPERVISOR_TIMER)
#define IP_MTI (1 << INTERRUPT_MACHINE_TIMER)

#define COUNTER_CYCLE 1
#define COUNTER_TIME 2
#define COUNTER_INSTRET 4

#define SATP_SV39 (8UL << 60)
#define SATP_ASID_SHIFT 44

#ifndef __ASSEMBLER__
#include <stdint.h>

#define READ_CSR(name)                                                \
    ({                                                                \
        uint64_t value_;                                              \
        __asm__ volatile("csrr %0, " #name : "=r"(value_)::"memory"); \
        value_;                                                       \
    })
#define WRITE_CSR(name, value) \
    __asm__ volatile("csrw " #name ", %0" ::"rK"((uint64_t)(value)) : "memory")
#define SET_CSR(name, bits) \
    __asm__ volatile("csrs " #name ", %0" ::"rK"((uint64_t)(bits)) : "memory")
#define CLEAR_CSR(name, bits) \
    __asm__ volatile("csrc " #name ", %0" ::"rK"((uint64_t)(bits)) : "memory")

#if CONFIG_SMP
void smp_enter(void); // smp.c: takes the kernel's lock
void smp_leave(void);
#endif

// Closes the hart to interrupts, and with more than one the kernel to the others; returns the bit
// that interrupts_restore() puts back.
static inline uint64_t interrupts_off(void)
{
    uint64_t status;
    __asm__ volatile("csrrci %0, sstatus, 2" : "=r"(status)::"memory");
#if CONFIG_SMP
    if (status & STATUS_SIE)
        smp_enter();
#endif
    return status & STATUS_SIE;
}

static inline void interrupts_restore(uint64_t was)
{
#if CONFIG_SMP
    if (was)
        smp_leave();
#endif
    SET_CSR(sstatus, was);
}

static inline void wait_for_interrupt(void)
{
    __asm__ volatile("wfi" ::: "memory");
}

static inline uint64_t read_cycle(void)
{
    uint64_t value;
    __asm__ volatile("rdcycle %0" : "=r"(value));
    return value;
}

static inline uint64_t read_instret(void)
{
    uint64_t value;
    __asm__ volatile("rdinstret %0" : "=r"(value)::"memory");
    return value;
}

// Orders earlier page-table stores before the walks that follow, and drops what the TLB holds of
// one page.
static inline void fence_page(uint64_t address)
{
    __asm__ volatile("sfence.vma %0, zero" ::"r"(address) : "memory");
}

static inline void fence_all_pages(void)
{
    __asm__ volatile("sfence.vma zero, zero" ::: "memory");
}

// Drops the translations of one address-space identifier; global ones stay.
static inline void fence_space(uint64_t asid)
{
    __asm__ volatile("sfence.vma zero, %0" ::"r"(asid) : "memory");
}
#endif

#endif
