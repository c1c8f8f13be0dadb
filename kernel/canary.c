// SPDX-License-Identifier: BSD-2-Clause
//
// What the compiler's stack protector needs (canaries=on).
#include "config.h"

#if CONFIG_CANARIES
#include "console.h"
#include "thread.h"

extern uint64_t __stack_chk_guard;
extern _Noreturn void __stack_chk_fail(void);

// A terminator canary: a zero byte, a line feed and an all-ones byte stop string functions that
// overrun a buffer.
uint64_t __stack_chk_guard = 0xff0a000d7a5c3b00;

_Noreturn void __stack_chk_fail(void)
{
    panic("stack overrun in a kernel function: thread %s", current->name);
}
#endif
