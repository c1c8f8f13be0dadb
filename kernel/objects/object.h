// SPDX-License-Identifier: BSD-2-Clause
//
// Kernel objects, and the handles by which user programs name them.
#ifndef OBJECT_H
#define OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "list.h"
#include "ticket_lock.h"

// Every type of object. `struct <name>` begins with `struct object`, and <name>_init(object, a, b)
// prepares it; a circle gives the two numbers. Threads and spaces have functions of their own.
#define OBJECT_TYPES(TYPE) \
    TYPE(semaphore)        \
    TYPE(mutex)            \
    TYPE(condvar)          \
    TYPE(queue)            \
    TYPE(stack)            \
    TYPE(event_set)        \
    TYPE(heap)             \
    TYPE(endpoint)         \
    TYPE(notification)     \
    TYPE(component)        \
    TYPE(brand)            \
    TYPE(user_scheduler)

// Those that hold other memory, or are held: <name>_end(object) releases it.
#define OBJECT_TYPES_WITH_END(TYPE) \
    TYPE(mutex)                     \
    TYPE(stack)                     \
    TYPE(heap)

// Those that link threads in other ways than as waiters: <name>_abandon(thread) unlinks a thread
// that ends. Interrupts are off.
#if CONFIG_USERSPACE
#define OBJECT_TYPES_WITH_ABANDON(TYPE) \
    TYPE(endpoint)                      \
    TYPE(component)
#else
#define OBJECT_TYPES_WITH_ABANDON(TYPE) TYPE(endpoint)
#endif

struct thread;
#define TYPE(name) void name##_abandon(struct thread *t);
OBJECT_TYPES_WITH_ABANDON(TYPE)
#undef TYPE

enum object_type {
    OBJECT_none,
    OBJECT_thread,
    OBJECT_space,
#define TYPE(name) OBJECT_##name,
    OBJECT_TYPES(TYPE)
#undef TYPE
        OBJECT_TYPES_END
};

struct object {
    uint64_t type; // enum object_type
#if CONFIG_FINE
    struct lock lock; // smp.h
#endif
#if CONFIG_OBJCORE
    struct link core; // among all objects of its type
#endif
};

// With objcore=on: puts an object into the list of its type, and takes it out. Threads and spaces
// are listed, too.
#if CONFIG_OBJCORE
void object_enlist(struct object *object);
void object_delist(struct object *object);
// Walks the objects of a type, the oldest first: the one after `object`, or the first if that is
// NULL; NULL after the last.
struct object *object_next(enum object_type type, const struct object *object);
#else
static inline void object_enlist(struct object *object)
{
    (void)object;
}
static inline void object_delist(struct object *object)
{
    (void)object;
}
#endif

// A new object of the type, initialised; NULL if memory is out, or for a thread or a space.
struct object *object_create(enum object_type type, uint64_t a, uint64_t b);
// No thread may wait for the object, and no handle may name it.
void object_destroy(struct object *object);
// Objects of the type that exist now.
uint64_t object_count(enum object_type type);

// A user program's handles are indices of this table. The receiver of a message or signal gets the
// badge of the handle through which it came.
#define HANDLES_MAX 32
struct handle {
    struct object *object; // NULL: the handle is free
    uint64_t badge;
};

#endif
