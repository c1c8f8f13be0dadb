// SPDX-License-Identifier: BSD-2-Clause
//
// Interrupts and faults.
#ifndef TRAP_H
#define TRAP_H

typedef void interrupt_fn(void *argument);

void traps_start(void);
// The kernel's software interrupt: `handler` runs in the interrupt, on the stack of the interrupted
// thread.
void software_interrupt_attach(interrupt_fn *handler, void *argument);
void software_interrupt_raise(void);

#endif
