// SPDX-License-Identifier: BSD-2-Clause
//
// The monitor: the firmware in M mode. It prepares the machine and starts the kernel in S mode;
// then it only serves three calls, forwards interrupts, and emulates `rdtime` on harts without it.
#include "monitor.h"

#include "board.h"
#include "config.h"
#include "memlayout.h"
#include "riscv.h"

extern void monitor_trap(void);
extern void kernel_entry(void);

struct monitor_frame {
    uint64_t pc; // in the place of x0
    uint64_t x[31];
};

static volatile uint64_t *clint64(uint64_t offset)
{
    return (volatile uint64_t *)(CLINT_BASE + offset);
}

static volatile uint32_t *clint32(uint64_t offset)
{
    return (volatile uint32_t *)(CLINT_BASE + offset);
}

static uint64_t this_hart(void)
{
    return CONFIG_SMP ? READ_CSR(mhartid) : BOOT_HART;
}

static void set_timer(uint64_t at_ticks)
{
    *clint64(CLINT_MTIMECMP + 8 * this_hart()) = at_ticks;
    CLEAR_CSR(mip, IP_STI);
    SET_CSR(mie, IP_MTI);
}

static _Noreturn void stop(uint64_t code)
{
#if defined(FINISHER_BASE)
    *(volatile uint32_t *)FINISHER_BASE = code == 0 ? 0x5555 : (uint32_t)(code << 16 | 0x3333);
#elif CONSOLE == CONSOLE_HTIF
    *(volatile uint64_t *)(UART_BASE + HTIF_TO_HOST) = code << 1 | 1; // device 0, command 0
#else
    (void)code; // this machine cannot switch itself off; the `end` record marks the end
#endif
    WRITE_CSR(mie, 0);
    for (;;)
        wait_for_interrupt();
}

// PMP entry 0 closes the monitor to everything below M mode; entry 1 opens the rest. The first
// match decides.
static void protect(void)
{
    WRITE_CSR(pmpaddr0, (RAM_BASE >> 2) | ((MONITOR_BYTES >> 3) - 1));
    WRITE_CSR(pmpaddr1, ~0UL);
    WRITE_CSR(pmpcfg0, 0x1f18); // NAPOT without permission, then NAPOT with read, write, execute
    fence_all_pages();          // a hart may keep a PMP check with a translation
}

// All other traps go to the kernel directly. Illegal instructions come here, because some are
// `rdtime`.
static void delegate(void)
{
    WRITE_CSR(medeleg, 0xb1fb & ~(1UL << CAUSE_ILLEGAL_INSTRUCTION));
    WRITE_CSR(mideleg, IP_SSI | IP_STI);
    WRITE_CSR(mcounteren,
              COUNTER_CYCLE | COUNTER_INSTRET | (BOARD_HAS_TIME_CSR ? COUNTER_TIME : 0));
}

void monitor_start(void)
{
    WRITE_CSR(mtvec, (uint64_t)monitor_trap);
    protect();
    delegate();
    *clint64(CLINT_MTIMECMP + 8 * this_hart()) = ~0UL;
    WRITE_CSR(satp, 0);
    WRITE_CSR(mie, IP_MSI);
    CLEAR_CSR(mstatus, STATUS_MPP_MASK);
    SET_CSR(mstatus, STATUS_MPP_SUPERVISOR);
    WRITE_CSR(mepc, (uint64_t)kernel_entry);
}

#if CONFIG_SMP
// What harts have asked of each one, bits; the asked clears them when it has done it. A fence is
// asked for by one hart at a time, which holds a lock of the kernel for it.
#define ASKED_INTERRUPT 1
#define ASKED_FENCE 2
static uint32_t asked[HARTS_MAX];
static uint64_t fence_left_satp, fence_loaded_satp;

static void ask(uint64_t hart, uint32_t what)
{
    __atomic_fetch_or(&asked[hart], what, __ATOMIC_SEQ_CST);
    *clint32(CLINT_MSIP + 4 * hart) = 1;
}

static void ask_interrupt(uint64_t hart)
{
    ask(hart, ASKED_INTERRUPT);
}

static void fence_others(uint64_t left_satp, uint64_t loaded_satp)
{
    fence_left_satp = left_satp;
    fence_loaded_satp = loaded_satp;
    for (uint64_t hart = 0; hart < HARTS_MAX; hart++)
        if (hart != this_hart())
            ask(hart, ASKED_FENCE);
    for (uint64_t hart = 0; hart < HARTS_MAX; hart++)
        while (__atomic_load_n(&asked[hart], __ATOMIC_ACQUIRE) & ASKED_FENCE)
            ;
}

// Whatever the kernel does there: the monitor's interrupts are never off in it.
static void do_asked(void)
{
    uint32_t *mine = &asked[this_hart()];
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // msip is cleared before this reads what for
    uint32_t what = __atomic_load_n(mine, __ATOMIC_SEQ_CST);
    if (what & ASKED_FENCE) {
        if (READ_CSR(satp) == fence_left_satp)
            WRITE_CSR(satp, fence_loaded_satp);
        fence_all_pages();
    }
    if (what & ASKED_INTERRUPT)
        SET_CSR(mip, IP_SSI);
    __atomic_fetch_and(mine, ~what, __ATOMIC_SEQ_CST);
}

static int serve_smp_call(uint64_t number, uint64_t a0, uint64_t a1)
{
    if (number == MONITOR_INTERRUPT && a0 < HARTS_MAX)
        ask_interrupt(a0);
    else if (number == MONITOR_FENCE_OTHERS)
        fence_others(a0, a1);
    else
        return 0;
    return 1;
}
#else
static void ask_interrupt(uint64_t hart)
{
    *clint32(CLINT_MSIP + 4 * hart) = 1;
}

static int serve_smp_call(uint64_t number, uint64_t a0, uint64_t a1)
{
    (void)number;
    (void)a0;
    (void)a1;
    return 0;
}

static void do_asked(void)
{
    SET_CSR(mip, IP_SSI);
}
#endif

// Reads the instruction at `pc` through the translation of the mode that trapped; MXR because code
// pages may be execute-only. Halfwords, because an instruction may straddle two pages.
static uint32_t fetch_instruction(uint64_t pc)
{
    uint64_t low, high, mprv = STATUS_MPRV | STATUS_MXR;
    __asm__ volatile("csrs mstatus, %3\n\t"
                     "lhu %0, 0(%2)\n\t"
                     "lhu %1, 2(%2)\n\t"
                     "csrc mstatus, %3"
                     : "=&r"(low), "=&r"(high)
                     : "r"(pc), "r"(mprv)
                     : "memory");
    return (uint32_t)(high << 16 | low);
}

// csrrs rd, time, x0. Returns 0 if it is another instruction.
static int emulate_rdtime(struct monitor_frame *frame)
{
    uint32_t instruction = fetch_instruction(frame->pc);
    uint32_t rd = instruction >> 7 & 31;
    if ((instruction & 0xfffff07f) != 0xc0102073)
        return 0;
    if (rd != 0)
        frame->x[rd - 1] = *clint64(CLINT_MTIME);
    frame->pc += 4;
    return 1;
}

// Makes the kernel see the trap as if it had been delegated.
static void forward_trap(struct monitor_frame *frame, uint64_t cause)
{
    uint64_t status = READ_CSR(mstatus);
    uint64_t from_supervisor = (status & STATUS_MPP_MASK) != 0;
    WRITE_CSR(scause, cause);
    WRITE_CSR(stval, READ_CSR(mtval));
    WRITE_CSR(sepc, frame->pc);
    status &= ~(uint64_t)(STATUS_SPP | STATUS_SPIE | STATUS_MPP_MASK);
    status |= (from_supervisor ? STATUS_SPP : 0) | ((status & STATUS_SIE) ? STATUS_SPIE : 0) |
              STATUS_MPP_SUPERVISOR;
    status &= ~(uint64_t)STATUS_SIE;
    WRITE_CSR(mstatus, status);
    frame->pc = READ_CSR(stvec);
}

static void serve_call(struct monitor_frame *frame)
{
    uint64_t number = frame->x[17 - 1], argument = frame->x[10 - 1];
    frame->pc += 4;
    if (number == MONITOR_SET_TIMER)
        set_timer(argument);
    else if (number == MONITOR_SEND_IPI)
        ask_interrupt(this_hart());
    else if (!serve_smp_call(number, argument, frame->x[11 - 1]))
        stop(number == MONITOR_EXIT ? argument : 1);
}

void monitor_handle(struct monitor_frame *frame)
{
    uint64_t cause = READ_CSR(mcause);
    if (cause == (CAUSE_INTERRUPT | INTERRUPT_MACHINE_TIMER)) {
        CLEAR_CSR(mie, IP_MTI); // until the next set_timer: the level stays up
        SET_CSR(mip, IP_STI);
    } else if (cause == (CAUSE_INTERRUPT | INTERRUPT_MACHINE_SOFTWARE)) {
        *clint32(CLINT_MSIP + 4 * this_hart()) = 0;
        do_asked();
    } else if (cause == CAUSE_SUPERVISOR_ECALL) {
        serve_call(frame);
    } else if ((READ_CSR(mstatus) & STATUS_MPP_MASK) == STATUS_MPP_MASK) {
        stop(2); // a fault of the monitor itself
    } else if (cause != CAUSE_ILLEGAL_INSTRUCTION || !emulate_rdtime(frame)) {
        forward_trap(frame, cause);
    }
}
