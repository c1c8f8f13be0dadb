// SPDX-License-Identifier: BSD-2-Clause
//
// The memory and the registers of the program that trapped (guest.S).
#ifndef GUEST_H
#define GUEST_H

#include <stdint.h>

// Reads or writes a byte of memory as the program that trapped would. Returns 0, or -1 if the
// access traps; mcause and mtval tell why.
int guest_access(uint64_t address, uint8_t *byte, int store);

// All floating-point registers, which must be switched on.
void save_floats(uint64_t registers[32]);
void load_floats(const uint64_t registers[32]);

#endif
