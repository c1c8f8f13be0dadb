// SPDX-License-Identifier: BSD-2-Clause
#include "string.h"

#include <stdint.h>

void *memset(void *to, int byte, size_t bytes)
{
    unsigned char *at = to;
    for (; bytes > 0 && ((uintptr_t)at & 7) != 0; bytes--)
        *at++ = (unsigned char)byte;
    uint64_t word = (unsigned char)byte * 0x0101010101010101u;
    for (; bytes >= 64; bytes -= 64, at += 64) // pages, mostly
        for (int i = 0; i < 64; i += 8)
            *(uint64_t *)(void *)(at + i) = word;
    for (; bytes >= 8; bytes -= 8, at += 8)
        *(uint64_t *)(void *)at = word;
    for (; bytes > 0; bytes--)
        *at++ = (unsigned char)byte;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    unsigned char *out = to;
    const unsigned char *in = from;
    if ((((uintptr_t)out | (uintptr_t)in) & 7) == 0)
        for (; bytes >= 8; bytes -= 8, out += 8, in += 8)
            *(uint64_t *)(void *)out = *(const uint64_t *)(const void *)in;
    for (; bytes > 0; bytes--)
        *out++ = *in++;
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const unsigned char *x = a, *y = b;
    for (; bytes > 0; bytes--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return length;
}

int strcmp(const char *a, const char *b)
{
    for (; *a != '\0' && *a == *b; a++, b++)
        ;
    return (unsigned char)*a - (unsigned char)*b;
}

char *string_append(char *end, const char *limit, const char *more)
{
    while (end + 1 < limit && *more != '\0')
        *end++ = *more++;
    *end = '\0';
    return end;
}
