// SPDX-License-Identifier: BSD-2-Clause
//
// Each page is a row of blocks between two used sentinels. A block knows its size and its left
// neighbour's (boundary tags, Knuth 1973), so both neighbours are found without a search. Of a free
// block that is too large the right end is taken, so that the rest keeps its place in its list
// unless its class changes.
#include "heap.h"

#include <stddef.h>

#include "compiler.h"
#include "memlayout.h"
#ifndef USER_PROGRAM
#include "eventlog.h"
#include "page_alloc.h"
#include "riscv.h"
#include "smp.h"
#endif

#define GRANULE 8
#define USED 1u

struct heap_block {
    uint32_t left_bytes; // of the block to the left; sizes are multiples of the granule and
                         // include the header
    uint32_t size_bytes; // of this block, plus USED
    // The owner's while the block is used.
    struct heap_block *next, *prev; // in the list of its class; prev is NULL in the first
};

#define HEADER_BYTES offsetof(struct heap_block, next)
#define SMALLEST_BYTES sizeof(struct heap_block)
#define EXACT_BYTES (HEAP_EXACT * GRANULE)
// A page: link to the next page, left sentinel, blocks, right sentinel.
#define ROW_BYTES (PAGE_BYTES - sizeof(void *) - 2 * HEADER_BYTES)

_Static_assert(ROW_BYTES < EXACT_BYTES << (HEAP_CLASSES - HEAP_EXACT),
               "HEAP_CLASSES: a class for every block");

static inline struct heap_block *block_at(struct heap_block *b, uint64_t distance_bytes)
{
    return (struct heap_block *)(void *)((char *)b + distance_bytes);
}

static inline uint64_t class_of(uint64_t bytes)
{
    static const uint8_t highest_bit[ROW_BYTES / EXACT_BYTES + 1] = {
        [2 ... 3] = 1, [4 ... 7] = 2, [8 ... 15] = 3};
    return bytes < EXACT_BYTES ? bytes / GRANULE
                               : (uint64_t)HEAP_EXACT + highest_bit[bytes / EXACT_BYTES];
}

// Two numbers have the same highest bit if they differ in less than they share.
static inline int same_class(uint64_t smaller_bytes, uint64_t bytes)
{
    return smaller_bytes >= EXACT_BYTES && (smaller_bytes ^ bytes) <= (smaller_bytes & bytes);
}

// Index of the lowest bit set. The product's upper bits are different for each of the 64 possible
// inputs, because every run of six bits occurs once in the constant (Leiserson, Prokop, Randall
// 1998); the hart has no instruction for it.
#define DE_BRUIJN 0x03f79d71b4cb0a89ul
static inline uint64_t lowest_bit(uint64_t word)
{
    static const uint8_t index[64] = {
        0,  1,  48, 2,  57, 49, 28, 3,  61, 58, 50, 42, 38, 29, 17, 4,  62, 55, 59, 36, 53, 51,
        43, 22, 45, 39, 33, 30, 24, 18, 12, 5,  63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21,
        44, 32, 23, 11, 46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,  13, 8,  7,  6};
    return index[(word & -word) * DE_BRUIJN >> 58];
}

static inline void list_free(struct heap *h, struct heap_block *b, uint64_t class)
{
    struct heap_block *first = h->first[class];
    b->next = first;
    b->prev = NULL;
    if (first != NULL)
        first->prev = b;
    h->first[class] = b;
    h->classes_used |= 1ul << class;
}

static inline void unlist(struct heap *h, struct heap_block *b, uint64_t class)
{
    if (b->next != NULL)
        b->next->prev = b->prev;
    if (b->prev != NULL)
        b->prev->next = b->next;
    else if ((h->first[class] = b->next) == NULL)
        h->classes_used &= ~(1ul << class);
}

// Makes a block of that size, which is free, and updates its right neighbour.
static inline void resize(struct heap_block *b, uint64_t bytes)
{
    b->size_bytes = (uint32_t)bytes;
    block_at(b, bytes)->left_bytes = (uint32_t)bytes;
}

// Called last; returns `result`.
static NOINLINE void *relist(struct heap *h, struct heap_block *b, uint64_t old_bytes, void *result)
{
    unlist(h, b, class_of(old_bytes));
    list_free(h, b, class_of(b->size_bytes));
    return result;
}

// A free block of at least `bytes`: any of a class that holds nothing smaller, else one that fits
// of the class of `bytes`.
static inline struct heap_block *find(const struct heap *h, uint64_t bytes)
{
    uint64_t class = class_of(bytes);
    uint64_t sure = bytes < EXACT_BYTES || (bytes & (bytes - 1)) == 0 ? class : class + 1;
    uint64_t candidates = h->classes_used >> sure;
    if (candidates != 0)
        return h->first[sure + lowest_bit(candidates)];
    if (sure == class)
        return NULL;
    struct heap_block *b = h->first[class];
    while (b != NULL && b->size_bytes < bytes)
        b = b->next;
    return b;
}

// Takes the whole block.
static inline void *use_all(struct heap *h, struct heap_block *b)
{
    uint64_t bytes = b->size_bytes;
    unlist(h, b, class_of(bytes));
    b->size_bytes = (uint32_t)bytes | USED;
    return (char *)b + HEADER_BYTES;
}

// Takes the right end; the rest stays where it is.
static inline void *use_end(struct heap *h, struct heap_block *b, uint64_t bytes)
{
    uint64_t old_bytes = b->size_bytes, rest_bytes = old_bytes - bytes;
    struct heap_block *end = block_at(b, rest_bytes);
    resize(b, rest_bytes);
    resize(end, bytes);
    end->size_bytes |= USED;
    void *result = (char *)end + HEADER_BYTES;
    return same_class(rest_bytes, old_bytes) ? result : relist(h, b, old_bytes, result);
}

void *heap_take(struct heap *h, uint64_t bytes)
{
    if (bytes > ROW_BYTES - HEADER_BYTES)
        return NULL;
    uint64_t need_bytes = (bytes + HEADER_BYTES + GRANULE - 1) & ~(uint64_t)(GRANULE - 1);
    if (need_bytes < SMALLEST_BYTES)
        need_bytes = SMALLEST_BYTES;
    struct heap_block *b = find(h, need_bytes);
    if (b == NULL)
        return NULL;
    return b->size_bytes - need_bytes >= SMALLEST_BYTES ? use_end(h, b, need_bytes) : use_all(h, b);
}

void heap_give(struct heap *h, void *block)
{
    struct heap_block *b = (struct heap_block *)(void *)((char *)block - HEADER_BYTES);
    uint64_t bytes = b->size_bytes & ~USED;
    struct heap_block *left = block_at(b, -(uint64_t)b->left_bytes), *right = block_at(b, bytes);
    if ((right->size_bytes & USED) == 0) {
        unlist(h, right, class_of(right->size_bytes));
        bytes += right->size_bytes;
    }
    uint64_t left_bytes = left->size_bytes;
    if (left_bytes & USED) {
        resize(b, bytes);
        list_free(h, b, class_of(bytes));
        return;
    }
    resize(left, left_bytes + bytes);
    if (!same_class(left_bytes, left_bytes + bytes))
        relist(h, left, left_bytes, NULL);
}

uint64_t heap_used_bytes(const struct heap *h)
{
    uint64_t used_bytes = 0;
    for (void *page = h->pages; page != NULL; page = *(void **)page) {
        struct heap_block *b = block_at(page, sizeof(void *) + HEADER_BYTES);
        for (; b->size_bytes != USED; b = block_at(b, b->size_bytes & ~USED))
            used_bytes += b->size_bytes & USED ? b->size_bytes & ~USED : 0;
    }
    return used_bytes;
}

uint64_t heap_largest_bytes(void)
{
    return ROW_BYTES - HEADER_BYTES;
}

void heap_add(struct heap *h, void *page)
{
    *(void **)page = h->pages;
    h->pages = page;
    struct heap_block *sentinel = (struct heap_block *)(void *)((char *)page + sizeof(void *));
    resize(sentinel, HEADER_BYTES);
    sentinel->size_bytes |= USED;
    struct heap_block *row = block_at(sentinel, HEADER_BYTES);
    resize(row, ROW_BYTES);
    block_at(row, ROW_BYTES)->size_bytes = USED;
    list_free(h, row, class_of(ROW_BYTES));
}

#ifndef USER_PROGRAM
void *heap_malloc(struct heap *h, uint64_t bytes)
{
    uint64_t irq = interrupts_off();
    eventlog_call("heap_malloc");
    lock_briefly(&h->object.lock);
    void *block = heap_take(h, bytes);
    unlock_briefly(&h->object.lock);
    interrupts_restore(irq);
    return block;
}

void heap_free(struct heap *h, void *block)
{
    uint64_t irq = interrupts_off();
    eventlog_call("heap_free");
    lock_briefly(&h->object.lock);
    heap_give(h, block);
    unlock_briefly(&h->object.lock);
    interrupts_restore(irq);
}

void heap_init(struct heap *h, uint64_t bytes, uint64_t unused)
{
    (void)unused;
    for (uint64_t have = 0; have < bytes; have += PAGE_BYTES) {
        void *page = page_alloc();
        if (page == NULL)
            return;
        heap_add(h, page);
    }
}

void heap_end(struct heap *h)
{
    while (h->pages != NULL) {
        void *page = h->pages;
        h->pages = *(void **)page;
        page_free(page);
    }
}
#endif
