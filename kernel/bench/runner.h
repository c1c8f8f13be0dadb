// SPDX-License-Identifier: BSD-2-Clause
//
// The runner: the kernel thread that sets up each circle, lets its threads run, and writes what
// frames their records.
#ifndef RUNNER_H
#define RUNNER_H

#include "parameters.h"

// Body of the runner's thread; `bad_parameter` is NULL or the word that was not understood. Ends
// the machine.
struct bench_args {
    struct parameters parameters;
    const char *bad_parameter;
    uint64_t timebase_hz;
};
void runner_main(struct bench_args *args);

#endif
