// SPDX-License-Identifier: BSD-2-Clause
#include "frame.h"

#include "csr.h"

void redirect(struct frame *frame, uint64_t cause, uint64_t value)
{
    uint64_t status = frame->status;
    WRITE_CSR(scause, cause);
    WRITE_CSR(stval, value);
    WRITE_CSR(sepc, frame->pc);
    uint64_t from_supervisor = status & STATUS_MPP ? STATUS_SPP : 0;
    uint64_t were_enabled = status & STATUS_SIE ? STATUS_SPIE : 0;
    status &= ~(uint64_t)(STATUS_SPP | STATUS_SPIE | STATUS_SIE | STATUS_MPP);
    frame->status = status | from_supervisor | were_enabled | 1UL << STATUS_MPP_SHIFT;
    frame->pc = READ_CSR(stvec) & ~3UL;
}
