// SPDX-License-Identifier: BSD-2-Clause
//
// Output to the UART, polled.
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stddef.h>
#include <stdint.h>

int64_t console_write(const char *bytes, size_t length);
// %s text, %d signed, %u unsigned, %x hexadecimal; every number is 64 bits wide.
void print(const char *format, ...);
// Prints why an invariant is broken, and stops the machine.
_Noreturn void panic(const char *format, ...);

#endif
