// SPDX-License-Identifier: BSD-2-Clause
//
// The director: the kernel thread that sets up each circle, lets its threads run, and writes what frames their records.
#ifndef DIRECTOR_H
#define DIRECTOR_H

#include "parameters.h"

// Body of the director's thread; `bad_parameter` is NULL or the word that was not understood. Ends the machine.
struct direction {
    struct parameters parameters;
    const char *bad_parameter;
    uint64_t timebase_hz;
};
void director_main(struct direction *direction);

#endif
