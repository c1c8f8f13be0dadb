// SPDX-License-Identifier: BSD-2-Clause
//
// The futex system call as locks use it. `scope` is FUTEX_PRIVATE_FLAG if all users share an
// address space, and 0 otherwise.
#ifndef LINUX_CIRCLES_FUTEX_H
#define LINUX_CIRCLES_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// Sleeps while the word holds `value`; may return early, so the caller checks the word again.
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, int scope)
{
    syscall(SYS_futex, word, FUTEX_WAIT | scope, value, NULL);
}

// Wakes at most one sleeper.
static inline void futex_wake(_Atomic uint32_t *word, int scope)
{
    syscall(SYS_futex, word, FUTEX_WAKE | scope, 1);
}

#endif
