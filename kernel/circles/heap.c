// SPDX-License-Identifier: BSD-2-Clause
//
// The heap: by Zephyr's keys for kernel threads, and as a program's library, where it takes no
// call.
#include "heap.h"
#include "zephyr.h"

#define BLOCK_BYTES 10 // as latency_measure asks for
#define HEAP_BYTES PAGE_BYTES

#ifdef USER_PROGRAM
#define ALLOCATE heap_take
#define FREE heap_give

static struct heap *circle_heap(const struct bench_shared *shared)
{
    static struct heap heap;
    static uint64_t page[PAGE_BYTES / sizeof(uint64_t)];
    (void)shared;
    if (heap.pages == NULL)
        heap_add(&heap, page);
    return &heap;
}
#else
#define ALLOCATE heap_malloc
#define FREE heap_free

static struct heap *circle_heap(const struct bench_shared *shared)
{
    return bench_object(shared, 0);
}
#endif

static int64_t malloc_part(void *arg)
{
    struct heap *heap = circle_heap(arg);
    uint64_t begin = machine_clock.begin();
    void *block = ALLOCATE(heap, BLOCK_BYTES);
    int64_t value = (int64_t)(machine_clock.end() - begin);
    FREE(heap, block);
    return value;
}

static int64_t free_part(void *arg)
{
    struct heap *heap = circle_heap(arg);
    void *block = ALLOCATE(heap, BLOCK_BYTES);
    uint64_t begin = machine_clock.begin();
    FREE(heap, block);
    return (int64_t)(machine_clock.end() - begin);
}

#define IN_THE_KERNEL \
    .objects = {{OBJECT_heap, HEAP_BYTES, 0}}, .sides = KERNEL_ALONE, .naming = BY_NOTHING
#define IN_A_PROGRAM .sides = USER_ALONE, .naming = BY_MODE
#define MALLOC_AND_FREE SEQUENCE("client: heap_malloc", "client: heap_free")

const struct circle heap_circles[] = {
    {PART_OF_TURN("heap.malloc.immediate", "Allocate 10 bytes", MALLOC_AND_FREE, "heap_malloc",
                  "left in"),
     IN_THE_KERNEL, .pass = malloc_part},
    {PART_OF_TURN("heap.free.immediate", "Free a block", MALLOC_AND_FREE, "heap_free", "left in"),
     IN_THE_KERNEL, .pass = free_part},
    {PART_OF_TURN("heap.malloc.immediate", "Allocate 10 bytes of a program's own", SEQUENCE(NULL),
                  "heap_take", "no such row"),
     IN_A_PROGRAM, .pass = malloc_part},
    {PART_OF_TURN("heap.free.immediate", "Free a block of a program's own", SEQUENCE(NULL),
                  "heap_give", "no such row"),
     IN_A_PROGRAM, .pass = free_part},
    END_OF_FAMILY,
};
