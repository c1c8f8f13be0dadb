// SPDX-License-Identifier: BSD-2-Clause
//
// Plain tests of core: a test is a function that CHECKs; a failed CHECK is printed and the test
// goes on.
#ifndef CORE_TEST_H
#define CORE_TEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cyc/circle.h>
#include <cyc/flow.h>

struct test {
    const char *name;
    void (*run)(void);
};

// Each ends with {0}.
extern const struct test record_tests[], arguments_tests[], flow_tests[], suite_tests[],
    coroutine_tests[];

void check(int holds, const char *what, const char *file, int line);
void check_text(const char *got, const char *wanted, const char *file, int line);
void check_int(int64_t got, int64_t wanted, const char *file, int line);
#define CHECK(condition) check(!!(condition), #condition, __FILE__, __LINE__)
#define CHECK_TEXT(got, wanted) check_text(got, wanted, __FILE__, __LINE__)
#define CHECK_INT(got, wanted) check_int(got, wanted, __FILE__, __LINE__)

// A text that grows; what does not fit fails the test.
struct text {
    char bytes[65536];
    size_t length;
};
void text_add(struct text *text, const char *bytes, size_t length);
void text_clear(struct text *text);
// A writer whose lines are collected in `text`.
struct cyc_writer writer_to(struct text *text);
// How often `part` stands in `text`.
int occurrences(const char *text, const char *part);

#endif
