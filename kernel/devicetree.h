// SPDX-License-Identifier: BSD-2-Clause
//
// What the kernel wants to know from the flattened device tree (Devicetree Specification 0.4, chapter 5).
#ifndef DEVICETREE_H
#define DEVICETREE_H

#include <stdint.h>

struct devicetree {
    uint64_t ram_end;      // of the memory that begins at RAM_BASE
    uint64_t timebase_hz;  // of mtime
    const char *bootargs;  // "" where there are none
};

// Returns 0, or -1 where `blob` is no device tree or lacks memory or timebase; `blob` must be below 1 MiB.
int devicetree_read(const void *blob, struct devicetree *tree);

#endif
