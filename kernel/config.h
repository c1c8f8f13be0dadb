// SPDX-License-Identifier: BSD-2-Clause
//
// The configuration of an image: each option is 0 or 1 and comes from the Makefile. The image's
// `hello` record lists them all; kernel and user programs see the same values.
#ifndef CONFIG_H
#define CONFIG_H

#if !defined(CONFIG_USERSPACE) || !defined(CONFIG_CANARIES) || !defined(CONFIG_OBJCORE) || \
    !defined(CONFIG_MCS) || !defined(CONFIG_MTIME) || !defined(CONFIG_ASID) ||             \
    !defined(CONFIG_ACCOUNTING) || !defined(CONFIG_EVENTLOG) || !defined(CONFIG_SMP) ||    \
    !defined(CONFIG_FINE)
#error "an option is missing: build with the Makefile, which passes every CONFIG_ value"
#endif

// CONFIG_USERSPACE   processes and user threads; without it kernel threads alone
// CONFIG_CANARIES    stack protector in every kernel function
// CONFIG_OBJCORE     objects in lists by type, run-time statistics of threads on every switch
// CONFIG_MCS         scheduling contexts with budgets; entries that schedule read the time
// CONFIG_MTIME       the kernel reads the time from the CLINT's mtime, not by `rdtime`
// CONFIG_ASID        address spaces have identifiers; without it each switch flushes the TLB
// CONFIG_ACCOUNTING  cycles are charged to scheduler levels on every switch
// CONFIG_SMP         HARTS_MAX harts, each with a scheduler of its own, under one lock
// CONFIG_FINE        with that, a lock per hart and per object instead (smp.h)
// CONFIG_EVENTLOG    calls, switches and interrupts are logged in order, to check contracts

#define HARTS_MAX (1 + CONFIG_SMP)

#endif
