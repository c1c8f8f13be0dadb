// SPDX-License-Identifier: BSD-2-Clause
//
// What a call returns if it fails; success is 0 or a value above.
#ifndef ERROR_H
#define ERROR_H

#define FOREVER UINT64_MAX // as a timeout; 0 is not to wait at all

enum error {
    ERROR_HANDLE = -1,   // no such handle, or of another type
    ERROR_ARGUMENT = -2, // a number out of range, or memory that the caller may not use
    ERROR_BUSY = -3,     // would have to wait, and may not
    ERROR_TIMEOUT = -4,
    ERROR_ABORTED = -5, // the thing waited for is gone
    ERROR_DENIED = -6,
    ERROR_CALL = -7, // no such system call
    ERROR_MEMORY = -8,
};

#endif
