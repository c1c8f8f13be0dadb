// SPDX-License-Identifier: BSD-2-Clause
//
// System calls: the table that trap.S jumps through, the check of handles, and the calls that take
// user memory. Interrupts are off from entry to exit.
#include "syscall.h"

#include "memlayout.h"
#include "objects/handle.h"
#include "riscv.h"
#include "space.h"
#include "string.h"

int64_t null(void)
{
    eventlog_call("null");
    return 0;
}

#if CONFIG_USERSPACE
#define CONSOLE_CHUNK 128

_Static_assert(ERROR_CALL == -7 && ERROR_ARGUMENT == -2, "trap.S returns these by number");

extern int64_t user_copy(void *to, const void *from, uint64_t bytes); // trap.S

// Whether all addresses are the user's; the page tables decide which are mapped.
static int user_range(const void *start, uint64_t bytes)
{
    return (uint64_t)start < USER_TOP && bytes <= USER_TOP - (uint64_t)start;
}

static int64_t copy_in(void *to, const void *user, uint64_t bytes)
{
    return user_range(user, bytes) ? user_copy(to, user, bytes) : ERROR_ARGUMENT;
}

static int64_t copy_out(void *user, const void *from, uint64_t bytes)
{
    return user_range(user, bytes) ? user_copy(user, from, bytes) : ERROR_ARGUMENT;
}

static int64_t sys_null(void)
{
    return null();
}

static int64_t sys_console_write(const char *bytes, uint64_t length)
{
    char chunk[CONSOLE_CHUNK];
    if (!user_range(bytes, length))
        return refuse(ERROR_ARGUMENT);
    for (uint64_t part; length > 0; bytes += part, length -= part) {
        part = length < sizeof chunk ? length : sizeof chunk;
        if (copy_in(chunk, bytes, part) != 0)
            return refuse(ERROR_ARGUMENT);
        console_write(chunk, part);
    }
    return 0;
}

static int64_t sys_counters_read(int64_t *counts)
{
    int64_t copy[COUNTERS_END];
    COUNTER_HERE(entries)--; // this entry is the rig's, not the circle's
    counters_read(copy);
    return copy_out(counts, copy, sizeof copy);
}

static int64_t sys_eventlog_record(uint64_t on)
{
    return eventlog_record(on);
}

static int64_t sys_thread_yield(void)
{
    return thread_yield();
}

static int64_t sys_thread_exit(void)
{
    return thread_exit();
}

static int64_t sys_thread_sleep(uint64_t ticks)
{
    return thread_sleep(ticks);
}

// A user thread can only create user threads of its space.
static int64_t sys_thread_create(uint64_t handle, uint64_t entry, uint64_t argument,
                                 uint64_t priority)
{
    struct handle *named = handle_entry(handle, OBJECT_thread);
    if (named == NULL)
        return refuse(ERROR_HANDLE);
    struct thread *t = (struct thread *)named->object;
    if (t->space != current->space)
        return refuse(ERROR_DENIED);
    return entry < USER_TOP ? thread_create(t, entry, argument, priority) : refuse(ERROR_ARGUMENT);
}

static int64_t sys_condvar_wait(uint64_t condvar, uint64_t mutex, uint64_t timeout_ticks)
{
    struct handle *c = handle_entry(condvar, OBJECT_condvar),
                  *m = handle_entry(mutex, OBJECT_mutex);
    if (c == NULL || m == NULL)
        return refuse(ERROR_HANDLE);
    return condvar_wait((struct condvar *)(void *)c->object, (struct mutex *)(void *)m->object,
                        timeout_ticks);
}

#define MESSAGE_CALL(name, type) SEND_CALL(name, type)
#define SEND_CALL(name, type) \
    int64_t sys_##name(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
#define RECEIVE_CALL(name, type) int64_t sys_##name(uint64_t);
#define INVOKE_CALL(name, type) void invoke_##name(void); // trap.S
int64_t sys_notification_signal(uint64_t handle);         // notification.c

#define OBJECT_OR_RETURN(type)                                  \
    struct handle *named = handle_entry(handle, OBJECT_##type); \
    if (named == NULL)                                          \
        return refuse(ERROR_HANDLE);                            \
    struct type *object = (struct type *)(void *)named->object
#define CALL0(name)
#define CALL1(name, a)
#define CALL2(name, a, b)
#define CALL3(name, a, b, c)
#define CALL4(name, a, b, c, d)
#define OBJECT_CALL0(name, type)               \
    static int64_t sys_##name(uint64_t handle) \
    {                                          \
        OBJECT_OR_RETURN(type);                \
        return name(object);                   \
    }
#define OBJECT_CALL1(name, type, a)                 \
    static int64_t sys_##name(uint64_t handle, a x) \
    {                                               \
        OBJECT_OR_RETURN(type);                     \
        return name(object, x);                     \
    }
#define OBJECT_CALL2(name, type, a, b)                   \
    static int64_t sys_##name(uint64_t handle, a x, b y) \
    {                                                    \
        OBJECT_OR_RETURN(type);                          \
        return name(object, x, y);                       \
    }
#define OBJECT_CALL3(name, type, a, b, c)                     \
    static int64_t sys_##name(uint64_t handle, a x, b y, c z) \
    {                                                         \
        OBJECT_OR_RETURN(type);                               \
        return name(object, x, y, z);                         \
    }
#include "syscalls.def"

// The function of each number, for trap.S. Bit 0, which the jump there ignores, marks an answer
// that is a message.
const char *const calls[] = {
#define ENTRY(name) (const char *)sys_##name,
#define ANSWERED(name) (const char *)sys_##name + 1,
#define CALL0(name) ENTRY(name)
#define CALL1(name, a) ENTRY(name)
#define CALL2(name, a, b) ENTRY(name)
#define CALL3(name, a, b, c) ENTRY(name)
#define CALL4(name, a, b, c, d) ENTRY(name)
#define OBJECT_CALL0(name, type) ENTRY(name)
#define OBJECT_CALL1(name, type, a) ENTRY(name)
#define OBJECT_CALL2(name, type, a, b) ENTRY(name)
#define OBJECT_CALL3(name, type, a, b, c) ENTRY(name)
#define MESSAGE_CALL(name, type) ANSWERED(name)
#define SEND_CALL(name, type) ENTRY(name)
#define RECEIVE_CALL(name, type) ANSWERED(name)
#define INVOKE_CALL(name, type) (const char *)invoke_##name,
#include "syscalls.def"
};
#else
const char *const calls[1] = {NULL};
#endif
