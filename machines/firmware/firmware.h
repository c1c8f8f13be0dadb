// SPDX-License-Identifier: BSD-2-Clause
//
// The parts of the firmware and what they offer each other.
#ifndef FIRMWARE_H
#define FIRMWARE_H

#include <stdint.h>

#include "frame.h"

// Answers a call of the kernel's by the RISC-V SBI specification, version 2.0: a7 names the
// extension, a6 the function, a0 to a5 are the arguments; a0 and a1 return error and value.
void serve_call(struct frame *frame);

// Both emulate the instruction that trapped, if it is one that this machine lacks or hides, and
// step behind it. They return 0 for any other instruction and change nothing then.
int emulate_illegal(struct frame *frame);
int emulate_misaligned(struct frame *frame);

// Lets the kernel handle a trap as if it had been delegated (privileged specification, 3.1.6).
void redirect(struct frame *frame, uint64_t cause, uint64_t value);

// Reads the instruction at the frame's pc, 2 or 4 bytes of it. Returns 0, or -1 if the read traps
// (mcause and mtval tell).
int fetch(const struct frame *frame, uint32_t *instruction);

// Reads or writes a byte of memory as the program that trapped would; 0, or -1 as above.
int guest_access(uint64_t address, uint8_t *byte, int store);

// All floating-point registers, which must be switched on.
void save_floats(uint64_t registers[32]);
void load_floats(const uint64_t registers[32]);

// The kernel's timer interrupt comes when mtime reaches `at`.
void set_timer(uint64_t at);
void put_character(uint8_t character);

enum ending { POWER_OFF, REBOOT, FAILURE };
_Noreturn void end_machine(enum ending ending);

#endif
