// SPDX-License-Identifier: BSD-2-Clause
#include "csr.h"
#include "devices.h"
#include "emulate.h"
#include "frame.h"
#include "platform.h"
#include "sbi.h"

// What QEMU leaves for the firmware (OpenSBI, include/sbi/fw_dynamic.h).
struct loader_info {
    uint64_t magic, version, next_address, next_mode, options, boot_hart;
};
#define LOADER_MAGIC 0x4942534f

// Exceptions that the kernel handles itself: misaligned fetch, breakpoint, calls of user code, and
// page faults.
#define DELEGATED 0xb109

void trap(void); // entry.S

// Entry 0 of the PMP closes the firmware to everything below M mode, entry 1 opens the rest.
static void protect(void)
{
    WRITE_CSR(pmpaddr0, (RAM_BASE >> 2) | ((FIRMWARE_BYTES >> 3) - 1));
    WRITE_CSR(pmpaddr1, ~0UL);
    WRITE_CSR(pmpcfg0, 0x1f18); // NAPOT without permission, then NAPOT with read, write, execute
}

// Prepares M mode and what the kernel will find: `time` traps everywhere, since the Rocket core has
// none, and so does what touches the translation, until the kernel has looked for the identifiers
// of address spaces that the Rocket core does not have (emulate.c).
void firmware_start(const struct loader_info *loader)
{
    uint64_t kernel = PAYLOAD_BASE;
    if (loader != 0 && loader->magic == LOADER_MAGIC)
        kernel = loader->next_address;
    WRITE_CSR(mtvec, (uint64_t)trap);
    protect();
    WRITE_CSR(medeleg, DELEGATED);
    WRITE_CSR(mideleg, INTERRUPT_SSI | INTERRUPT_STI | INTERRUPT_SEI);
    WRITE_CSR(mcounteren, COUNTER_CYCLE | COUNTER_INSTRET);
    WRITE_CSR(scounteren, COUNTER_CYCLE | COUNTER_TIME | COUNTER_INSTRET);
    set_timer(~0UL);
    WRITE_CSR(satp, 0);
    CLEAR_CSR(mstatus, STATUS_MPP);
    SET_CSR(mstatus, 1UL << STATUS_MPP_SHIFT | STATUS_TVM);
    WRITE_CSR(mepc, kernel);
}

// Every trap but those that entry.S answers.
void handle_trap(struct frame *frame)
{
    uint64_t cause = READ_CSR(mcause), value = READ_CSR(mtval);
    if ((frame->status & STATUS_MPP) == STATUS_MPP)
        end_machine(FAILURE); // the firmware's own
    if (cause == CAUSE_SUPERVISOR_ECALL) {
        serve_call(frame);
    } else if (cause == CAUSE_ILLEGAL_INSTRUCTION) {
        if (!emulate_illegal(frame))
            redirect(frame, cause, value);
    } else if (cause == CAUSE_MISALIGNED_LOAD || cause == CAUSE_MISALIGNED_STORE) {
        if (!emulate_misaligned(frame))
            redirect(frame, cause, value);
    } else {
        redirect(frame, cause, value);
    }
}
