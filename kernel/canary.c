// SPDX-License-Identifier: BSD-2-Clause
//
// The stack protector's two names (canaries=on).
#include "config.h"

#if CONFIG_CANARIES
#include "console.h"
#include "thread.h"

extern uint64_t __stack_chk_guard;
extern _Noreturn void __stack_chk_fail(void);

// A terminator canary: its zero byte, line feed and all-ones byte stop a string function that overruns a buffer.
uint64_t __stack_chk_guard = 0xff0a000d7a5c3b00;

_Noreturn void __stack_chk_fail(void)
{
    panic("stack overrun in a kernel function: thread %s", current->role);
}
#endif
