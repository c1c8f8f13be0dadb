// SPDX-License-Identifier: BSD-2-Clause
//
// What the kernel needs from the flattened device tree (Devicetree Specification 0.4,
// chapter 5).
#ifndef DEVICETREE_H
#define DEVICETREE_H

#include <stdint.h>

struct devicetree {
    uint64_t ram_end;     // of the memory that begins at RAM_BASE
    uint64_t timebase_hz; // of mtime
    const char *bootargs; // "" if there are none
};

// Returns 0, or -1 if `blob` is not a device tree, is larger than 1 MiB, or lacks memory or
// timebase.
int devicetree_read(const void *blob, struct devicetree *tree);

#endif
