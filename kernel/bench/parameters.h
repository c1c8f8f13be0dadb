// SPDX-License-Identifier: BSD-2-Clause
//
// What the image's command line says (the device tree's bootargs): `name=value` words
// separated by blanks.
#ifndef PARAMETERS_H
#define PARAMETERS_H

#include <stdint.h>

#include "kernel_circle.h"

struct parameters {
    enum method method;
    struct cyc_flow flow;
    uint32_t passes; // of the direct and passes methods, and of every one-way circle
    uint32_t run;    // number of the run, for the records
    uint32_t log;    // 1: write the event log of one turn of each circle (eventlog=on)
    uint32_t list;   // 1: write the contracts, run nothing
    uint32_t test;   // 1: run the functional tests instead
    char only[256];  // patterns of keys, separated by commas; `*` stands for any text
};

// Returns NULL, or the first word that is not understood.
const char *parameters_read(struct parameters *parameters, const char *text);
// Whether one of the patterns might fit a key that begins with `stem`: telling so is cheaper than
// making the key.
int parameters_may_select(const struct parameters *parameters, const char *stem);
// Whether one of the patterns in `only` fits the key.
int parameters_select(const struct parameters *parameters, const char *key);

#endif
