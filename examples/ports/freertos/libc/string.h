// SPDX-License-Identifier: BSD-2-Clause
//
// What FreeRTOS uses of the C library; string.c defines it.
#ifndef STRING_H
#define STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t length);
void *memset(void *to, int value, size_t length);
size_t strlen(const char *text);

#endif
