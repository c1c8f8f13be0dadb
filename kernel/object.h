// SPDX-License-Identifier: BSD-2-Clause
//
// Kernel objects and the handles by which user programs name them.
#ifndef OBJECT_H
#define OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "list.h"

// Every type of object: one line. `struct <name>` begins with `struct object` and <name>_init(object, a, b) prepares
// it from the two numbers of a circle's request. Threads and spaces are made by their own functions.
#define OBJECT_TYPES(TYPE)                                                                                             \
    TYPE(semaphore)                                                                                                    \
    TYPE(mutex)                                                                                                        \
    TYPE(condvar)                                                                                                      \
    TYPE(queue)                                                                                                        \
    TYPE(stack)                                                                                                        \
    TYPE(event_set)                                                                                                    \
    TYPE(heap)                                                                                                         \
    TYPE(endpoint)                                                                                                     \
    TYPE(notification)                                                                                                 \
    TYPE(component)                                                                                                    \
    TYPE(brand)                                                                                                        \
    TYPE(scheduler)

// Those that hold more than their own memory: <name>_end(object) gives it back.
#define OBJECT_TYPES_WITH_END(TYPE)                                                                                    \
    TYPE(mutex)                                                                                                        \
    TYPE(stack)                                                                                                        \
    TYPE(heap)

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
#if CONFIG_OBJCORE
    struct link core; // among all objects of its type
#endif
};

// With objcore=on, threads and spaces included: puts an object into the list of its type, and takes it out.
#if CONFIG_OBJCORE
void object_enlist(struct object *object);
void object_delist(struct object *object);
// The objects of a type, the oldest first: the one after `object`, or the first after NULL; NULL behind the last.
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

// A new object of the type, zeroed and initialised; NULL where memory is out or the type is not made this way.
struct object *object_create(enum object_type type, uint64_t a, uint64_t b);
// Nobody may wait for the object or hold a handle to it any more.
void object_destroy(struct object *object);
// Objects of the type that exist now.
uint64_t object_count(enum object_type type);

// A user program's handles: small numbers, indices of this table. The badge tells the receiver of a message or signal
// through which handle it came.
#define HANDLES_MAX 32
struct handle {
    struct object *object; // NULL where the handle is free
    uint64_t badge;
};

#endif
