// SPDX-License-Identifier: BSD-2-Clause
//
// From a user program's handle to the object.
#ifndef HANDLE_H
#define HANDLE_H

#include "space.h"
#include "thread.h"

#define KERNEL_BADGE 1 // of kernel threads, which use no handle

// The entry of the running thread's program, or NULL if it does not name an object of this type.
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
