// SPDX-License-Identifier: BSD-2-Clause
#define _POSIX_C_SOURCE 200809L
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#define TIME_LIMIT_S 60 // a coroutine that never comes back must not hang the build

static int failures; // of the running test

void check(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    failures++;
    printf("%s:%d: does not hold: %s\n", file, line, what);
}

void check_text(const char *got, const char *wanted, const char *file, int line)
{
    if (strcmp(got, wanted) == 0)
        return;
    failures++;
    printf("%s:%d: got    %s\n%s:%d: wanted %s\n", file, line, got, file, line, wanted);
}

void check_int(int64_t got, int64_t wanted, const char *file, int line)
{
    if (got == wanted)
        return;
    failures++;
    printf("%s:%d: got %lld, wanted %lld\n", file, line, (long long)got, (long long)wanted);
}

void text_add(struct text *text, const char *bytes, size_t length)
{
    CHECK(text->length + length < sizeof text->bytes);
    if (text->length + length >= sizeof text->bytes)
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_clear(struct text *text)
{
    text->length = 0;
    text->bytes[0] = '\0';
}

static void put(void *context, const char *bytes, size_t length)
{
    text_add(context, bytes, length);
}

struct cyc_writer writer_to(struct text *text)
{
    text_clear(text);
    return (struct cyc_writer){.put = put, .context = text};
}

int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
        count++;
    return count;
}

int main(void)
{
    const struct test *const files[] = {record_tests, arguments_tests, flow_tests, suite_tests,
                                        coroutine_tests};
    int passed = 0, failed = 0;
    alarm(TIME_LIMIT_S);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (const struct test *test = files[i]; test->name != NULL; test++) {
            failures = 0;
            test->run();
            if (failures > 0)
                printf("failed: %s\n", test->name);
            *(failures > 0 ? &failed : &passed) += 1;
        }
    printf("core: %d passed, %d failed\n", passed, failed);
    return failed > 0;
}
