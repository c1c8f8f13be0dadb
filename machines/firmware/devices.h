// SPDX-License-Identifier: BSD-2-Clause
//
// What the firmware does with the devices of platform.h.
#ifndef DEVICES_H
#define DEVICES_H

#include <stdint.h>

// The kernel's timer interrupt comes when mtime reaches `at`.
void set_timer(uint64_t at);
void put_character(uint8_t character);

enum ending { POWER_OFF, REBOOT, FAILURE };
_Noreturn void end_machine(enum ending ending);

#endif
