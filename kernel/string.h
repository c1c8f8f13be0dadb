// SPDX-License-Identifier: BSD-2-Clause
//
// The string functions that the kernel needs; the compiler may call the first three.
#ifndef STRING_H
#define STRING_H

#include <stddef.h>

void *memset(void *to, int byte, size_t bytes);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
// Appends `more` at `end` of a buffer that ends at `limit`, as far as it fits; returns the new end.
char *string_append(char *end, const char *limit, const char *more);

#endif
