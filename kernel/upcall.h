// SPDX-License-Identifier: BSD-2-Clause
//
// Why an upcall comes: the first argument of a component's upcall entry, with the others that follow it.
#ifndef UPCALL_H
#define UPCALL_H

enum upcall {
    UPCALL_BOOTSTRAP,      // asked for by a program: (its argument)
    UPCALL_BRAND,          // a brand was raised: (both arguments), or a pending one is executed: no arguments
    UPCALL_BRAND_COMPLETE, // to the scheduler: this thread's upcall is done, nobody is left to return to: (its slot)
    UPCALL_BRAND_NOTIFY,   // to the scheduler: a brand was raised, decide: (slots: its own, upcall's, raiser's)
};

#endif
