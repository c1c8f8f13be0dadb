// SPDX-License-Identifier: BSD-2-Clause
//
// The few string functions that are needed; the compiler calls the first three by itself.
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

void *memset(void *to, int byte, size_t bytes);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
// Appends `more` at `end` of a buffer that closes at `limit`; returns the new end. Cuts what does not fit.
char *text_append(char *end, const char *limit, const char *more);

#endif
