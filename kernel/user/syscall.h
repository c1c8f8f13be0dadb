// SPDX-License-Identifier: BSD-2-Clause
//
// The system-call library: each call of calls.def is one `ecall` in place. A pointer to an object
// is a handle. The kernel keeps s0-s11, sp, gp, tp and ra; it returns a0 and clears the rest.
#ifndef USER_SYSCALL_H
#define USER_SYSCALL_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "objects/message.h"
#include "objects/object.h"
#include "objects/scheduler_page.h"
#include "objects/upcall.h"

struct thread;
#define TYPE(name) struct name;
OBJECT_TYPES(TYPE)
#undef TYPE

extern const char *const counter_names[];

// The words of a message beyond those in registers: this thread's buffer, of which the kernel
// knows.
static inline uint64_t *message_buffer(void)
{
    uint64_t *buffer;
    __asm__("mv %0, tp" : "=r"(buffer));
    return buffer;
}

enum call_number {
#define CALL0(name) CALL_##name,
#define CALL1(name, a) CALL_##name,
#define CALL2(name, a, b) CALL_##name,
#define CALL3(name, a, b, c) CALL_##name,
#define CALL4(name, a, b, c, d) CALL_##name,
#define OBJECT_CALL0(name, type) CALL_##name,
#define OBJECT_CALL1(name, type, a) CALL_##name,
#define OBJECT_CALL2(name, type, a, b) CALL_##name,
#define OBJECT_CALL3(name, type, a, b, c) CALL_##name,
#define MESSAGE_CALL(name, type) CALL_##name,
#define SEND_CALL(name, type) CALL_##name,
#define RECEIVE_CALL(name, type) CALL_##name,
#define INVOKE_CALL(name, type) CALL_##name,
#include "syscalls.def"
    CALLS_END
};

#define ECALL(...)                                                      \
    __asm__ volatile("ecall"                                            \
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a7) \
                     :                                                  \
                     : "a4", "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "memory")

// An argument that a call does not take is left uninitialised on purpose: no instruction is spent
// on it.
#define ARGUMENT(n, value) register uint64_t a##n __asm__("a" #n) = (uint64_t)(value)
#define UNUSED(n)                           \
    register uint64_t a##n __asm__("a" #n); \
    __asm__("" : "=r"(a##n))

#define STUB(name, parameters, ...)       \
    static inline int64_t name parameters \
    {                                     \
        __VA_ARGS__;                      \
        ARGUMENT(7, CALL_##name);         \
        ECALL();                          \
        return (int64_t)a0;               \
    }
#define STUB0(name) STUB(name, (void), UNUSED(0); UNUSED(1); UNUSED(2); UNUSED(3))
#define STUB1(name, a) STUB(name, (a x), ARGUMENT(0, x); UNUSED(1); UNUSED(2); UNUSED(3))
#define STUB2(name, a, b) \
    STUB(name, (a x, b y), ARGUMENT(0, x); ARGUMENT(1, y); UNUSED(2); UNUSED(3))
#define STUB3(name, a, b, c) \
    STUB(name, (a x, b y, c z), ARGUMENT(0, x); ARGUMENT(1, y); ARGUMENT(2, z); UNUSED(3))
#define STUB4(name, a, b, c, d) \
    STUB(name, (a x, b y, c z, d w), ARGUMENT(0, x); ARGUMENT(1, y); ARGUMENT(2, z); ARGUMENT(3, w))

// The words stay in the registers in which they came, from one call to the next.
#define MESSAGE_STUB(name, parameters, load, store)                                             \
    static inline int64_t name parameters                                                       \
    {                                                                                           \
        ARGUMENT(0, object);                                                                    \
        load;                                                                                   \
        ARGUMENT(7, CALL_##name);                                                               \
        __asm__ volatile("ecall"                                                                \
                         : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(a7) \
                         :                                                                      \
                         : "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "memory");           \
        store;                                                                                  \
        return (int64_t)a0;                                                                     \
    }
#define LOAD_WORDS           \
    ARGUMENT(1, words);      \
    ARGUMENT(2, m->word[0]); \
    ARGUMENT(3, m->word[1]); \
    ARGUMENT(4, m->word[2]); \
    ARGUMENT(5, m->word[3])
#define NO_WORDS \
    UNUSED(1);   \
    UNUSED(2);   \
    UNUSED(3);   \
    UNUSED(4);   \
    UNUSED(5)
#define STORE_WORDS          \
    *m = (struct message)    \
    {                        \
        {a2, a3, a4, a5}, a1 \
    }

#define MESSAGE_CALL(name, type)                                                              \
    MESSAGE_STUB(name, (struct type * object, uint64_t words, struct message *m), LOAD_WORDS, \
                 STORE_WORDS)
#define SEND_CALL(name, type)                                                           \
    MESSAGE_STUB(name, (struct type * object, uint64_t words, const struct message *m), \
                 LOAD_WORDS, (void)0)
#define RECEIVE_CALL(name, type) \
    MESSAGE_STUB(name, (struct type * object, struct message * m), NO_WORDS, STORE_WORDS)
#define INVOKE_CALL(name, type) // user/component.h
#define CALL0(name) STUB0(name)
#define CALL1(name, a) STUB1(name, a)
#define CALL2(name, a, b) STUB2(name, a, b)
#define CALL3(name, a, b, c) STUB3(name, a, b, c)
#define CALL4(name, a, b, c, d) STUB4(name, a, b, c, d)
#define OBJECT_CALL0(name, type) STUB1(name, struct type *)
#define OBJECT_CALL1(name, type, a) STUB2(name, struct type *, a)
#define OBJECT_CALL2(name, type, a, b) STUB3(name, struct type *, a, b)
#define OBJECT_CALL3(name, type, a, b, c) STUB4(name, struct type *, a, b, c)
#include "syscalls.def"

#endif
