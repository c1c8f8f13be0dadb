// SPDX-License-Identifier: BSD-2-Clause
#include "page_alloc.h"
#include "string.h"
#include "test.h"

#define BLOCKS_MAX 512
#define ROUNDS 20000

static void *blocks[BLOCKS_MAX];
static uint64_t sizes_bytes[BLOCKS_MAX];

static uint64_t next_random(void)
{
    static uint64_t state = 0x2545f4914f6cdd1d;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t fill(struct heap *h, uint64_t bytes)
{
    uint64_t count = 0;
    while (count < BLOCKS_MAX && (blocks[count] = heap_malloc(h, bytes)) != NULL)
        count++;
    return count;
}

static void is_whole_again(struct heap *h)
{
    void *all = heap_malloc(h, heap_largest_bytes());
    CHECK(all != NULL);
    CHECK_EQUAL(heap_used_bytes(h), heap_largest_bytes() + 8);
    CHECK_EQUAL(heap_malloc(h, 1), NULL);
    heap_free(h, all);
    CHECK_EQUAL(heap_used_bytes(h), 0);
}

static void knows_what_is_used(void)
{
    struct heap *h = test_object(OBJECT_heap, 2 * PAGE_BYTES, 0);
    void *one = heap_malloc(h, 10), *two = heap_malloc(h, 100);
    CHECK_EQUAL(heap_used_bytes(h), 24 + 112); // with a header of 8 bytes each, in steps of 8
    heap_free(h, one);
    CHECK_EQUAL(heap_used_bytes(h), 112);
    heap_free(h, two);
    CHECK_EQUAL(heap_used_bytes(h), 0);
}

static void gives_until_it_is_empty(void)
{
    struct heap *h = test_object(OBJECT_heap, PAGE_BYTES, 0);
    uint64_t count = fill(h, 10);
    CHECK(count >= PAGE_BYTES / 24 - 2);
    CHECK_EQUAL(heap_malloc(h, 1), NULL);
    heap_free(h, blocks[7]);
    CHECK_EQUAL(heap_malloc(h, 10), blocks[7]);
}

static void joins_what_is_freed(void)
{
    struct heap *h = test_object(OBJECT_heap, PAGE_BYTES, 0);
    for (uint64_t step = 1; step <= 3; step++) {
        uint64_t count = fill(h, 24 * step);
        for (uint64_t offset = 0; offset < step; offset++)
            for (uint64_t i = offset; i < count; i += step)
                heap_free(h, blocks[i]);
        is_whole_again(h);
    }
    uint64_t count = fill(h, 100);
    while (count > 0)
        heap_free(h, blocks[--count]);
    is_whole_again(h);
}

static void largest_and_beyond(void)
{
    struct heap *h = test_object(OBJECT_heap, 2 * PAGE_BYTES, 0);
    CHECK_EQUAL(heap_malloc(h, heap_largest_bytes() + 1), NULL);
    CHECK_EQUAL(heap_malloc(h, ~0ul), NULL);
    void *one = heap_malloc(h, heap_largest_bytes()), *two = heap_malloc(h, heap_largest_bytes());
    CHECK(one != NULL && two != NULL && one != two);
    CHECK_EQUAL(heap_malloc(h, 0), NULL);
}

static int holds_only(const void *block, uint64_t bytes, int value)
{
    const uint8_t *byte = block;
    for (uint64_t i = 0; i < bytes; i++)
        if (byte[i] != (uint8_t)value)
            return 0;
    return 1;
}

static void allocate_filled(struct heap *h, uint64_t slot)
{
    uint64_t bytes = next_random() % (next_random() % 4 == 0 ? 1500 : 60);
    blocks[slot] = heap_malloc(h, bytes);
    sizes_bytes[slot] = bytes;
    if (blocks[slot] == NULL)
        return;
    CHECK_EQUAL((uint64_t)blocks[slot] % 8, 0);
    memset(blocks[slot], (int)(slot & 0xff), bytes);
}

static void free_checked(struct heap *h, uint64_t slot)
{
    CHECK(holds_only(blocks[slot], sizes_bytes[slot], (int)(slot & 0xff)));
    heap_free(h, blocks[slot]);
    blocks[slot] = NULL;
}

// Blocks of all sizes come and go; each keeps what was written to it, and in the end all is one
// block again.
static void blocks_never_overlap(void)
{
    struct heap *h = test_object(OBJECT_heap, PAGE_BYTES, 0);
    memset(blocks, 0, sizeof blocks);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t slot = next_random() % 64;
        if (blocks[slot] == NULL)
            allocate_filled(h, slot);
        else
            free_checked(h, slot);
    }
    for (uint64_t slot = 0; slot < 64; slot++)
        if (blocks[slot] != NULL)
            free_checked(h, slot);
    is_whole_again(h);
}

static void pages_are_given_back(void)
{
    object_destroy(
        object_create(OBJECT_heap, PAGE_BYTES, 0)); // takes the pages of the objects themselves
    object_destroy(object_create(OBJECT_stack, 1, 0));
    uint64_t before = pages_available();
    for (int i = 0; i < 3; i++) {
        struct object *heap = object_create(OBJECT_heap, 5 * PAGE_BYTES, 0);
        CHECK_EQUAL(pages_available(), before - 5);
        object_destroy(heap);
        struct object *stack = object_create(OBJECT_stack, 10, 0);
        CHECK_EQUAL(pages_available(), before - 1);
        object_destroy(stack);
    }
    CHECK_EQUAL(pages_available(), before);
}

const struct test heap_tests[] = {
    {"a heap gives until it is empty", gives_until_it_is_empty},
    {"a heap knows what is used", knows_what_is_used},
    {"a heap joins what is freed", joins_what_is_freed},
    {"a heap's largest block, and beyond", largest_and_beyond},
    {"blocks of a heap never overlap", blocks_never_overlap},
    {"heaps and stacks give their pages back", pages_are_given_back},
    END_OF_TESTS,
};
