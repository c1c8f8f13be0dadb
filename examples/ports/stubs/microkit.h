// SPDX-License-Identifier: BSD-2-Clause
//
// What the port in ../microkit uses of libmicrokit, declared only, so that a compiler can check the
// port without the SDK. Follows the manual of Microkit 1.4.
#ifndef STUB_MICROKIT_H
#define STUB_MICROKIT_H

#include <stdint.h>

typedef unsigned int microkit_channel;
typedef struct {
    uint64_t words[1];
} microkit_msginfo;

void init(void);
void notified(microkit_channel ch);
microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo);

void microkit_notify(microkit_channel ch);
microkit_msginfo microkit_ppcall(microkit_channel ch, microkit_msginfo msginfo);
microkit_msginfo microkit_msginfo_new(uint64_t label, uint16_t count);
void microkit_dbg_putc(int c);
void microkit_dbg_puts(const char *s);

#endif
