// SPDX-License-Identifier: BSD-2-Clause
//
// Interrupts and faults.
#include "trap.h"

#include "board.h"
#include "console.h"
#include "counters.h"
#include "eventlog.h"
#include "objects/scheduler_page.h"
#include "riscv.h"
#include "sched.h"
#include "smp.h"
#include "space.h"
#include "timeout.h"

extern char user_copy[], user_copy_end[], user_copy_fault[]; // trap.S

static interrupt_fn *software_handler;
static void *software_argument;

void software_interrupt_attach(interrupt_fn *handler, void *argument)
{
    software_handler = handler;
    software_argument = argument;
}

void software_interrupt_raise(void)
{
    SET_CSR(sip, IP_SSI);
}

void traps_start(void)
{
    WRITE_CSR(scounteren,
              COUNTER_CYCLE | COUNTER_INSTRET | (BOARD_HAS_TIME_CSR ? COUNTER_TIME : 0));
    WRITE_CSR(sie, IP_SSI | IP_STI);
}

// Threads that the handlers wake run after the last handler.
static void handle_interrupt(uint64_t cause)
{
    COUNT(interrupts);
    eventlog_kernel("interrupt of", current);
    uint64_t held = preemption_hold();
    if (cause == (CAUSE_INTERRUPT | INTERRUPT_SUPERVISOR_TIMER)) {
        timeouts_expire();
#if CONFIG_MCS
        sched_context_expire();
#endif
    } else if (cause == (CAUSE_INTERRUPT | INTERRUPT_SUPERVISOR_SOFTWARE)) {
        CLEAR_CSR(sip, IP_SSI);
        smp_arrivals();
        if (software_handler != NULL)
            software_handler(software_argument);
    } else {
        panic("interrupt %x, which nobody enabled", cause);
    }
    preemption_release(held);
}

// If a program is interrupted in one of its restartable sections, it starts that section again.
static void restart_section(struct frame *frame)
{
#if CONFIG_USERSPACE
    const struct scheduler_page *page = current->space->scheduler_page;
    if (page == NULL)
        return;
    for (int i = 0; i < SECTIONS_MAX; i++) {
        const struct scheduler_section *section = &page->sections[i];
        if (frame->pc > section->start && frame->pc < section->end) {
            frame->pc = section->start;
            COUNT(atomic_rbk);
            return;
        }
    }
#else
    (void)frame;
#endif
}

// Called by trap.S on an interrupt or a fault of user mode. A fault ends the program's thread only.
void trap_from_user(struct frame *frame)
{
    uint64_t cause = READ_CSR(scause);
    smp_enter();
    if ((cause & CAUSE_INTERRUPT) != 0) {
        restart_section(frame);
        handle_interrupt(cause);
        return;
    }
    COUNT(entries);
    if ((cause == CAUSE_LOAD_PAGE_FAULT || cause == CAUSE_STORE_PAGE_FAULT) &&
        thread_stack_fault(READ_CSR(stval)))
        return;
    current->fault = cause;
    print("fault: %s: cause %u at pc %x, address %x; the thread is ended\n", current->name, cause,
          frame->pc, READ_CSR(stval));
    thread_exit();
}

// Called by trap.S on an interrupt or a fault of the kernel.
void trap_from_kernel(struct frame *frame)
{
    uint64_t cause = READ_CSR(scause);
    if ((cause & CAUSE_INTERRUPT) != 0) {
        smp_enter();
        handle_interrupt(cause);
        smp_leave();
        return;
    }
    int of_copy = frame->pc >= (uint64_t)user_copy && frame->pc < (uint64_t)user_copy_end;
    if (!of_copy || (cause != CAUSE_LOAD_PAGE_FAULT && cause != CAUSE_STORE_PAGE_FAULT))
        panic("fault in the kernel: cause %u at pc %x, address %x, thread %s", cause, frame->pc,
              READ_CSR(stval), current->name);
    frame->pc = (uint64_t)user_copy_fault;
}

_Noreturn void trap_stack_overflow(void)
{
    panic("kernel stack overflow: pc %x, address %x, thread %s", READ_CSR(sepc), READ_CSR(stval),
          current->name);
}
