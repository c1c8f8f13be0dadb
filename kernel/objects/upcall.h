// SPDX-License-Identifier: BSD-2-Clause
//
// The first argument of a component's upcall entry: the reason for the upcall. The others follow in
// parentheses.
#ifndef UPCALL_H
#define UPCALL_H

enum upcall {
    UPCALL_BOOTSTRAP,      // asked for by a program: (its argument)
    UPCALL_BRAND,          // a brand was raised: (both arguments), or none if it was pending
    UPCALL_BRAND_COMPLETE, // to the scheduler: this thread's upcall has ended, and there is no
                           // thread to return to: (its slot)
    UPCALL_BRAND_NOTIFY,   // to the scheduler: decide about a brand: (slots of the notifier, the
                           // upcall, and the thread that raised it)
};

#endif
