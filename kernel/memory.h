// SPDX-License-Identifier: BSD-2-Clause
//
// Physical pages.
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

#include "board.h"

// Gives [start, end) to the allocator; both are rounded inward to pages.
void memory_start(uint64_t start, uint64_t end);
// A zeroed page, or NULL where there are no more. Pages are used by their kernel address, which is the physical one.
void *page_take(void);
void page_give(void *page);
uint64_t pages_free(void);

#endif
