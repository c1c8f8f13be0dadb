// SPDX-License-Identifier: BSD-2-Clause
//
// The allocator of physical pages.
#ifndef PAGE_ALLOC_H
#define PAGE_ALLOC_H

#include <stdint.h>

// Gives [start, end) to the allocator; both are rounded inward to pages.
void page_alloc_start(uint64_t start, uint64_t end);
// A zeroed page, or NULL if there are no more. Its kernel address is its physical address.
void *page_alloc(void);
void page_free(void *page);
uint64_t pages_available(void);

#endif
