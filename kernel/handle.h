// SPDX-License-Identifier: BSD-2-Clause
//
// From the handle that a user program gives to the object it names.
#ifndef HANDLE_H
#define HANDLE_H

#include "space.h"
#include "thread.h"

// The entry of the running thread's program, or NULL where it names no object of this type.
static inline struct handle *handle_entry(uint64_t handle, enum object_type type)
{
    if (handle >= HANDLES_MAX)
        return NULL;
    struct handle *entry = &current->space->handles[handle];
    if (entry->object == NULL || entry->object->type != type)
        return NULL;
    return entry;
}

#endif
