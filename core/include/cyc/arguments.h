// SPDX-License-Identifier: BSD-2-Clause
//
// Boot arguments: `name=value` words separated by blanks, as in a kernel's command line. They
// choose what an image measures, so that one image serves many measurements. Freestanding.
#ifndef CYC_ARGUMENTS_H
#define CYC_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

#include <cyc/circle.h>

#define CYC_ONLY_BYTES 256
#define CYC_NAME_BYTES 16

enum cyc_method { CYC_ACCUMULATED, CYC_DIRECT, CYC_PASSES };

struct cyc_arguments {
    enum cyc_method method; // method=accumulated|direct|passes
    struct cyc_flow flow;   // initial= delta= groups= tests=
    uint32_t passes;        // passes=: turns of `direct`, of `passes` and of one-way circles
    uint32_t run;           // run=: number of this boot, for the records
    uint32_t list;          // list=1: write the contracts and run nothing
    uint32_t exact;         // exact=1: the clock counts on an emulator or a simulator, and repeats
    char clock[CYC_NAME_BYTES]; // clock=: "" for the port's own choice
    char only[CYC_ONLY_BYTES];  // only=: patterns of keys separated by commas; `*` matches any text
};

// A further number that a port takes. A list ends with {0}.
struct cyc_argument {
    const char *name;
    uint32_t *value;
};

// Reads `text` over the defaults: accumulated, initial=30 delta=1 groups=5 tests=30 passes=30
// only=*. `more` are the port's own words, or NULL. Words that are not understood are left out;
// returns the first of them, which ends at a blank or the end of `text`, or NULL.
const char *cyc_arguments_read(struct cyc_arguments *arguments, const char *text,
                               const struct cyc_argument *more);
// Whether one of the patterns in `only` matches the key.
int cyc_arguments_select(const struct cyc_arguments *arguments, const char *key);

// The command line in a flattened device tree (Devicetree Specification 0.4, chapter 5), property
// `bootargs` of /chosen, where boot loaders and QEMU's -append put it. "" if `blob` is not a device
// tree, is larger than 1 MiB, or has no command line.
const char *cyc_arguments_in_devicetree(const void *blob);

#endif
