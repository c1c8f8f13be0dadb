// SPDX-License-Identifier: BSD-2-Clause
//
// The harness as the first process of a kernel: no system, no shell, only an archive that holds
// /init (this program), /arguments (its options, one a line) and /plan (what standard input is
// elsewhere).
#ifndef LINUX_INIT_H
#define LINUX_INIT_H

#include <stddef.h>

// Whether this process is the kernel's first one.
int init_is_first(void);
// Sets up what the circles expect of a system, reads the plan from now on as standard input, and
// ends the machine when the process exits. Returns the number of arguments and points `argv` at
// them, argv[0] included.
int init_prepare(char ***argv);
// Stops at a hint, for a debugger to read the kernel's own list of its functions out of memory:
// lines of `address type name`.
void init_show_symbols(void);
// The stop, with what to read as its arguments.
void init_show(const char *text, size_t length);
// Waits until the console has printed everything, so that no test meets the interrupts of its
// printing.
void init_drain(void);

// Waits until all is printed, and ends the machine.
void init_end_machine(void);

#endif
