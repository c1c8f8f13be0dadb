// SPDX-License-Identifier: BSD-2-Clause
//
// Programs of the user's as circles (`cyclometer run --exec`). A program whose first line of output
// is "cyclometer ready" stays, and answers requests: for each line with a number that it reads, it
// runs so many turns and prints a line. Any other program is one turn by itself, from its start to
// its end.
#ifndef LINUX_PROGRAM_H
#define LINUX_PROGRAM_H

#include "linux_circle.h"

// Reads which programs there are from a file of lines `key K`, then `title T`, `argument A` for
// each word of the command, and `expect COUNTER N`. NULL, or a sentence that says what is wrong.
const char *programs_read(const char *file);
// Starts each once to see which kind it is, which struct run keeps. NULL, or a sentence that says
// what is wrong. `watchdog_s` bounds each start.
const char *programs_try(int watchdog_s);
// Makes circles of them by that, in the supervisor and in each visit.
void programs_describe(void);
// The programs' circles; ends with NULL.
const struct registered_circle *const *programs_circles(void);

#endif
