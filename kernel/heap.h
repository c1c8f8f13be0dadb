// SPDX-License-Identifier: BSD-2-Clause
//
// Heaps: blocks of any size up to a page, allocated and freed in constant time where a block of the right class is
// there, and joined with their free neighbours at once. In a program a heap is a library: an all-zero struct heap,
// pages of the program's own given to heap_add(), then heap_take() and heap_give().
#ifndef HEAP_H
#define HEAP_H

#include <stdint.h>

#include "object.h"

// Free blocks stand in lists by size, in granules of 8 bytes: a class for each size up to HEAP_EXACT - 1, then one for
// each power of two.
#define HEAP_EXACT 32
#define HEAP_CLASSES 36

struct heap_block;

struct heap {
    struct object object;
    uint64_t classes_used; // bit c: class c has a free block
    struct heap_block *first[HEAP_CLASSES];
    void *pages; // the newest; each begins with a link to the one before
};

// Adds a page, aligned to 8 bytes, to what the heap can give.
void heap_add(struct heap *h, void *page);
// An aligned block of at least `bytes` (8 bytes), or NULL. Whoever calls these excludes others from the heap.
void *heap_take(struct heap *h, uint64_t bytes);
void heap_give(struct heap *h, void *block);

// In the kernel. `bytes` of memory are taken from the page allocator, as far as there is any, in whole pages.
void heap_init(struct heap *h, uint64_t bytes, uint64_t unused);
void heap_end(struct heap *h); // gives the pages back
// heap_take() and heap_give() as calls, with interrupts off.
void *heap_malloc(struct heap *h, uint64_t bytes);
void heap_free(struct heap *h, void *block);

// What is allocated now, headers included, counted by a walk over all blocks.
uint64_t heap_used_bytes(const struct heap *h);
// The largest block that a heap of any size can give.
uint64_t heap_largest_bytes(void);

#endif
