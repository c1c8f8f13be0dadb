// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

void *memcpy(void *to, const void *from, size_t length)
{
    for (size_t i = 0; i < length; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memset(void *to, int value, size_t length)
{
    for (size_t i = 0; i < length; i++)
        ((char *)to)[i] = (char)value;
    return to;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return length;
}
