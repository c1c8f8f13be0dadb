// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

#define EXIT_FAILED 5

void lines_flush(void)
{
    struct lines *lines = &run->lines;
    for (size_t sent = 0; sent < lines->length;) {
        ssize_t wrote = write(STDOUT_FILENO, lines->bytes + sent, lines->length - sent);
        if (wrote < 0 && errno != EINTR)
            exit(EXIT_FAILED); // the laboratory is gone
        sent += wrote > 0 ? (size_t)wrote : 0;
    }
    lines->length = 0;
}

void lines_put(void *context, const char *bytes, size_t length)
{
    struct lines *lines = &run->lines;
    (void)context;
    if (lines->length + length > sizeof lines->bytes)
        lines_flush();
    memcpy(lines->bytes + lines->length, bytes, length);
    lines->length += length;
    if (bytes[length - 1] == '\n' && !lines->held)
        lines_flush();
}
