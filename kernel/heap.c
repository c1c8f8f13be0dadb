// SPDX-License-Identifier: BSD-2-Clause
//
// Each page is a row of blocks between two used sentinels. A block knows its own size and that of its left neighbour
// (boundary tags), so both neighbours are found without a search. A free block that is larger than what is wanted
// gives its right end: it keeps its place in its list unless its class changes.
#include "heap.h"

#include <stddef.h>

#include "counters.h"
#include "events.h"
#include "memory.h"
#include "riscv.h"

#define GRANULE 8
#define USED 1u

struct heap_block {
    uint32_t left;  // granules of the block to the left, header included
    uint32_t size;  // granules of this block << 1 | USED
    // What follows belongs to the owner while the block is used.
    struct heap_block *next, *prev; // in the list of its class; prev is NULL in the first
};

#define HEADER_BYTES offsetof(struct heap_block, next)
#define SMALLEST (sizeof(struct heap_block) / GRANULE)
// A page: link to the next page, left sentinel, blocks, right sentinel.
#define ROW_GRANULES ((PAGE_BYTES - sizeof(void *) - 2 * HEADER_BYTES) / GRANULE)

_Static_assert(ROW_GRANULES < 1u << (HEAP_CLASSES - HEAP_EXACT + 5), "HEAP_CLASSES: a class for every block");

static inline uint64_t granules(const struct heap_block *b)
{
    return b->size >> 1;
}

static inline struct heap_block *right_of(struct heap_block *b)
{
    return (struct heap_block *)(void *)((char *)b + granules(b) * GRANULE);
}

static inline struct heap_block *left_of(struct heap_block *b)
{
    return (struct heap_block *)(void *)((char *)b - (uint64_t)b->left * GRANULE);
}

static inline uint64_t class_of(uint64_t size)
{
    static const uint8_t highest_bit[ROW_GRANULES / HEAP_EXACT + 1] = {
        [2 ... 3] = 1, [4 ... 7] = 2, [8 ... 15] = 3};
    return size < HEAP_EXACT ? size : (uint64_t)HEAP_EXACT + highest_bit[size / HEAP_EXACT];
}

// Index of the lowest bit set. The product's upper bits are different for each of the 64 possible inputs, because every
// run of six bits occurs once in the constant (Leiserson, Prokop, Randall 1998); the hart has no instruction for it.
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

// Sets the size of a free block and tells its right neighbour.
static inline void resize(struct heap_block *b, uint64_t size)
{
    b->size = (uint32_t)(size << 1);
    right_of(b)->left = (uint32_t)size;
}

static void relist(struct heap *h, struct heap_block *b, uint64_t old_size, uint64_t size)
{
    uint64_t old_class = class_of(old_size), class = class_of(size);
    if (class == old_class)
        return;
    unlist(h, b, old_class);
    list_free(h, b, class);
}

// A free block of at least `size`: any of a class that holds nothing smaller, else one that fits in size's own class.
static inline struct heap_block *find(const struct heap *h, uint64_t size)
{
    uint64_t class = class_of(size);
    uint64_t sure = size < HEAP_EXACT || (size & (size - 1)) == 0 ? class : class + 1;
    uint64_t candidates = h->classes_used >> sure;
    if (candidates != 0)
        return h->first[sure + lowest_bit(candidates)];
    if (sure == class)
        return NULL;
    struct heap_block *b = h->first[class];
    while (b != NULL && granules(b) < size)
        b = b->next;
    return b;
}

static inline void account(struct heap *h, int64_t granules_more)
{
#if CONFIG_OBJCORE
    h->used_bytes += (uint64_t)granules_more * GRANULE;
    if (h->used_bytes > h->used_most_bytes)
        h->used_most_bytes = h->used_bytes;
#else
    (void)h;
    (void)granules_more;
#endif
}

void *heap_take(struct heap *h, uint64_t bytes)
{
    uint64_t size = bytes <= SMALLEST * GRANULE - HEADER_BYTES ? SMALLEST : (bytes + HEADER_BYTES + GRANULE - 1) / GRANULE;
    struct heap_block *b = bytes <= PAGE_BYTES ? find(h, size) : NULL;
    if (b == NULL)
        return NULL;
    uint64_t rest = granules(b) - size;
    if (rest >= SMALLEST) {
        relist(h, b, rest + size, rest);
        resize(b, rest);
        b = right_of(b);
        b->left = (uint32_t)rest;
        resize(b, size);
    } else {
        unlist(h, b, class_of(rest + size));
    }
    b->size |= USED;
    account(h, (int64_t)granules(b));
    return (char *)b + HEADER_BYTES;
}

void heap_give(struct heap *h, void *block)
{
    struct heap_block *b = (struct heap_block *)(void *)((char *)block - HEADER_BYTES);
    struct heap_block *left = left_of(b), *right = right_of(b);
    uint64_t size = granules(b);
    account(h, -(int64_t)size);
    if ((right->size & USED) == 0) {
        unlist(h, right, class_of(granules(right)));
        size += granules(right);
    }
    if ((left->size & USED) == 0) {
        relist(h, left, granules(left), granules(left) + size);
        resize(left, granules(left) + size);
    } else {
        resize(b, size);
        list_free(h, b, class_of(size));
    }
}

void *heap_malloc(struct heap *h, uint64_t bytes)
{
    uint64_t irq = interrupts_off();
    event_call("heap_malloc");
    void *block = heap_take(h, bytes);
    interrupts_restore(irq);
    return block;
}

void heap_free(struct heap *h, void *block)
{
    uint64_t irq = interrupts_off();
    event_call("heap_free");
    heap_give(h, block);
    interrupts_restore(irq);
}

uint64_t heap_largest_bytes(void)
{
    return ROW_GRANULES * GRANULE - HEADER_BYTES;
}

static void add_page(struct heap *h, void *page)
{
    *(void **)page = h->pages;
    h->pages = page;
    struct heap_block *sentinel = (struct heap_block *)(void *)((char *)page + sizeof(void *));
    sentinel->size = HEADER_BYTES / GRANULE << 1 | USED;
    struct heap_block *row = right_of(sentinel);
    row->left = HEADER_BYTES / GRANULE;
    row->size = ROW_GRANULES << 1;
    right_of(row)->size = USED;
    resize(row, ROW_GRANULES);
    list_free(h, row, class_of(ROW_GRANULES));
}

void heap_init(struct heap *h, uint64_t bytes, uint64_t unused)
{
    (void)unused;
    for (uint64_t have = 0; have < bytes; have += PAGE_BYTES) {
        void *page = page_take();
        if (page == NULL)
            return;
        add_page(h, page);
    }
}

void heap_end(struct heap *h)
{
    while (h->pages != NULL) {
        void *page = h->pages;
        h->pages = *(void **)page;
        page_give(page);
    }
}
