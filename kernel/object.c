// SPDX-License-Identifier: BSD-2-Clause
#include "object.h"

#include "config.h"
#include "list.h"
#include "memory.h"
#include "objects.h"
#include "thread.h"
#include "text.h"

// Cells of one type, cut from pages; a free cell is a link in the type's list.
struct class {
    uint64_t bytes; // of a cell
    void (*init)(void *object, uint64_t a, uint64_t b);
    struct link *free; // singly linked through `next`
    uint64_t count;
#if CONFIG_OBJCORE
    struct link live;
#endif
};

// With objcore=on every object is preceded by its place in the list of all objects of its type.
#if CONFIG_OBJCORE
#define CORE_BYTES 64 // a cache line, so that objects stay aligned to one
#else
#define CORE_BYTES 0
#endif
#define CELL_BYTES(type) ((sizeof(type) + CORE_BYTES + 63) & ~63UL)

#define TYPE(name)                                                                                                     \
    static void init_##name(void *object, uint64_t a, uint64_t b)                                                      \
    {                                                                                                                  \
        name##_init(object, a, b);                                                                                     \
    }
OBJECT_TYPES(TYPE)
#undef TYPE

static struct class classes[OBJECT_TYPES_END] = {
#define TYPE(name) [OBJECT_##name] = {.bytes = CELL_BYTES(struct name), .init = init_##name},
    OBJECT_TYPES(TYPE)
#undef TYPE
};

static void refill(struct class *class)
{
    char *page = page_take();
    for (uint64_t at = 0; page != NULL && at + class->bytes <= PAGE_BYTES; at += class->bytes) {
        struct link *cell = (struct link *)(void *)(page + at);
        cell->next = class->free;
        class->free = cell;
    }
}

struct object *object_create(enum object_type type, uint64_t a, uint64_t b)
{
    struct class *class = &classes[type];
    if (class->init == NULL)
        return NULL;
    if (class->free == NULL)
        refill(class);
    struct link *cell = class->free;
    if (cell == NULL)
        return NULL;
    class->free = cell->next;
    memset(cell, 0, class->bytes);
#if CONFIG_OBJCORE
    if (class->live.next == NULL)
        list_init(&class->live);
    list_append(&class->live, cell);
#endif
    struct object *object = (struct object *)(void *)((char *)cell + CORE_BYTES);
    object->type = type;
    class->init(object, a, b);
    class->count++;
    return object;
}

void object_destroy(struct object *object)
{
    struct class *class = &classes[object->type];
    struct link *cell = (struct link *)(void *)((char *)object - CORE_BYTES);
    object->type = OBJECT_none;
#if CONFIG_OBJCORE
    list_remove(cell);
#endif
    cell->next = class->free;
    class->free = cell;
    class->count--;
}

uint64_t object_count(enum object_type type)
{
    return classes[type].count;
}
