// SPDX-License-Identifier: BSD-2-Clause
#include "object.h"

#include "memlayout.h"
#include "objects.h"
#include "page_alloc.h"
#include "smp.h"
#include "string.h"
#include "thread.h"

// The memory of one type: pages cut into cells; a free cell is a link of a list.
struct class {
    uint64_t bytes; // of a cell
    void (*init)(void *object, uint64_t a, uint64_t b);
    void (*end)(void *object); // may be NULL
    struct link *free;         // singly linked through `next`
    uint64_t count;
};

#define CELL_BYTES(type) ((sizeof(type) + 63) & ~63UL) // whole cache lines

#define TYPE(name)                                                \
    static void init_##name(void *object, uint64_t a, uint64_t b) \
    {                                                             \
        name##_init(object, a, b);                                \
    }
OBJECT_TYPES(TYPE)
#undef TYPE
#define TYPE(name)                       \
    static void end_##name(void *object) \
    {                                    \
        name##_end(object);              \
    }
OBJECT_TYPES_WITH_END(TYPE)
#undef TYPE

static struct class classes[OBJECT_TYPES_END] = {
#define TYPE(name) \
    [OBJECT_##name].bytes = CELL_BYTES(struct name), [OBJECT_##name].init = init_##name,
    OBJECT_TYPES(TYPE)
#undef TYPE
#define TYPE(name) [OBJECT_##name].end = end_##name,
        OBJECT_TYPES_WITH_END(TYPE)
#undef TYPE
};

static void refill(struct class *class)
{
    char *page = page_alloc();
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
    struct object *object = (struct object *)(void *)cell;
    object->type = type;
    object_enlist(object);
    class->init(object, a, b);
    class->count++;
    return object;
}

void object_destroy(struct object *object)
{
    struct class *class = &classes[object->type];
    struct link *cell = (struct link *)(void *)object;
    lock_briefly(&object->lock); // the last hart that used it has left it
    unlock_briefly(&object->lock);
    if (class->end != NULL)
        class->end(object);
    object_delist(object);
    object->type = OBJECT_none;
    cell->next = class->free;
    class->free = cell;
    class->count--;
}

#if CONFIG_OBJCORE
static struct link *list_of(enum object_type type)
{
    static struct link lists[OBJECT_TYPES_END];
    if (lists[type].next == NULL)
        list_init(&lists[type]);
    return &lists[type];
}

void object_enlist(struct object *object)
{
    list_append(list_of(object->type), &object->core);
}

void object_delist(struct object *object)
{
    list_remove(&object->core);
}

struct object *object_next(enum object_type type, const struct object *object)
{
    const struct link *list = list_of(type);
    struct link *next = object != NULL ? object->core.next : list->next;
    return next != list ? CONTAINER(next, struct object, core) : NULL;
}
#endif

uint64_t object_count(enum object_type type)
{
    return classes[type].count;
}
