// SPDX-License-Identifier: BSD-2-Clause
//
// The heap, by Zephyr's keys: kernel threads only.
#include "zephyr.h"

#define BLOCK_BYTES 10 // as latency_measure asks for
#define HEAP_BYTES 4096

#ifndef USER_PROGRAM
PART void allocate(struct props *p)
{
    p->made = heap_malloc(p->object, BLOCK_BYTES);
}

PART void release(struct props *p)
{
    heap_free(p->object, p->made);
}

static int64_t malloc_part(void *arg)
{
    return time_part(arg, nothing, allocate, release);
}

static int64_t free_part(void *arg)
{
    return time_part(arg, allocate, release, nothing);
}
#endif

#define MALLOC_AND_FREE SEQUENCE("client: heap_malloc", "client: heap_free")
#define ONE_HEAP                                                                                                       \
    .objects = {{OBJECT_heap, HEAP_BYTES, 0}}, .sides = KERNEL_ALONE, .naming = BY_NOTHING

const struct circle heap_circles[] = {
    {PART_OF_TURN("heap.malloc.immediate", "Allocate 10 bytes", MALLOC_AND_FREE, "heap_malloc", "left in"),
     ONE_HEAP, .pass = IN_KERNEL(malloc_part)},
    {PART_OF_TURN("heap.free.immediate", "Free a block", MALLOC_AND_FREE, "heap_free", "left in"),
     ONE_HEAP, .pass = IN_KERNEL(free_part)},
    END_OF_FAMILY,
};
