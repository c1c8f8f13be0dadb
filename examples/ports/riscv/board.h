// SPDX-License-Identifier: BSD-2-Clause
//
// QEMU's machine `virt`: the console and the end. Shared with the FreeRTOS port.
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>

// Prints on the first serial line (NS16550A at 0x1000_0000).
void board_print(const char *bytes, size_t length);
// Powers the machine off (SiFive test finisher at 0x10_0000); `failed` sets the exit status.
_Noreturn void board_end(int failed);

#endif
