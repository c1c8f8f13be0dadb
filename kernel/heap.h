// SPDX-License-Identifier: BSD-2-Clause
//
// Heaps of blocks up to a page. Allocating and freeing take constant time, unless the only fitting
// blocks are in the class of the wanted size; freed blocks merge with free neighbours at once. User
// programs link heaps as a library: an all-zero struct heap, heap_add(), heap_take(), heap_give().
#ifndef HEAP_H
#define HEAP_H

#include <stdint.h>

#include "objects/object.h"

// Free blocks are in lists by size class, in granules of 8 bytes: a class per size below
// HEAP_EXACT, then one per power of two.
#define HEAP_EXACT 32
#define HEAP_CLASSES 36

struct heap_block;

struct heap {
    struct object object;
    uint64_t classes_used; // bit c: class c has a free block
    struct heap_block *first[HEAP_CLASSES];
    void *pages; // the newest; each begins with a link to the one before
};

// Adds a page, aligned to 8 bytes.
void heap_add(struct heap *h, void *page);
// A block of at least `bytes`, aligned to 8, or NULL. The caller excludes others from the heap.
void *heap_take(struct heap *h, uint64_t bytes);
void heap_give(struct heap *h, void *block);

// In the kernel. Takes `bytes` of memory, in whole pages, or fewer if memory is out.
void heap_init(struct heap *h, uint64_t bytes, uint64_t unused);
void heap_end(struct heap *h); // frees its pages
// heap_take() and heap_give() with interrupts off.
void *heap_malloc(struct heap *h, uint64_t bytes);
void heap_free(struct heap *h, void *block);

// Bytes allocated now, headers included, by a walk over all blocks.
uint64_t heap_used_bytes(const struct heap *h);
// The largest block that any heap can give.
uint64_t heap_largest_bytes(void);

#endif
