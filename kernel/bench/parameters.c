// SPDX-License-Identifier: BSD-2-Clause
#include "parameters.h"

#include "string.h"

#define NUMBER_MAX 1000000000u

// The word's value where it is `name`=value; `length` is the word's.
static const char *value_of(const char *word, size_t length, const char *name, size_t *value_length)
{
    size_t name_length = strlen(name);
    if (length <= name_length + 1 || memcmp(word, name, name_length) != 0 ||
        word[name_length] != '=')
        return NULL;
    *value_length = length - name_length - 1;
    return word + name_length + 1;
}

static int number(const char *digits, size_t length, uint32_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9' || sum > NUMBER_MAX)
            return 0;
        sum = sum * 10 + (uint64_t)(digits[i] - '0');
    }
    *value = (uint32_t)sum;
    return sum <= NUMBER_MAX;
}

static int same(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

static int take_method(struct parameters *p, const char *value, size_t length)
{
    static const char *const names[] = {
        [ACCUMULATED] = "accumulated", [DIRECT] = "direct", [PASSES] = "passes"};
    for (enum method m = ACCUMULATED; m <= PASSES; m++) {
        if (same(value, length, names[m])) {
            p->method = m;
            return 1;
        }
    }
    return 0;
}

static int take_only(struct parameters *p, const char *value, size_t length)
{
    if (length >= sizeof p->only)
        return 0;
    memcpy(p->only, value, length);
    p->only[length] = '\0';
    return 1;
}

static int take_word(struct parameters *p, const char *word, size_t length)
{
    const struct {
        const char *name;
        uint32_t *value;
    } numbers[] = {
        {"initial", &p->flow.initial},
        {"delta", &p->flow.delta},
        {"groups", &p->flow.groups},
        {"run", &p->run},
        {"tests", &p->flow.tests},
        {"passes", &p->passes},
        {"log", &p->log},
        {"list", &p->list},
        {"test", &p->test},
    };
    size_t value_length;
    const char *value;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if ((value = value_of(word, length, numbers[i].name, &value_length)) != NULL)
            return number(value, value_length, numbers[i].value);
    if ((value = value_of(word, length, "method", &value_length)) != NULL)
        return take_method(p, value, value_length);
    if ((value = value_of(word, length, "only", &value_length)) != NULL)
        return take_only(p, value, value_length);
    // The build has chosen the clock, so that reading it takes no call.
    return value_of(word, length, "clock", &value_length) != NULL ||
           value_of(word, length, "exact", &value_length) != NULL;
}

const char *parameters_read(struct parameters *p, const char *text)
{
    *p = (struct parameters){
        .flow = {.initial = 30, .delta = 1, .groups = 5, .tests = 30}, .passes = 30, .only = "*"};
    while (*text != '\0') {
        size_t length = 0;
        while (text[length] != '\0' && text[length] != ' ')
            length++;
        if (length > 0 && !take_word(p, text, length))
            return text;
        text += length + (text[length] == ' ');
    }
    return NULL;
}

// `pattern` ends at a comma or the end of the text.
static int matches(const char *pattern, const char *key)
{
    for (; *pattern != '\0' && *pattern != ','; pattern++, key++) {
        if (*pattern == '*') {
            for (;; key++) {
                if (matches(pattern + 1, key))
                    return 1;
                if (*key == '\0')
                    return 0;
            }
        }
        if (*pattern != *key)
            return 0;
    }
    return *key == '\0';
}

// Whether some key that begins with `stem` can match: up to its first star the pattern agrees with
// it.
static int can_match(const char *pattern, const char *stem)
{
    for (; *pattern != '\0' && *pattern != ',' && *pattern != '*' && *stem != '\0';
         pattern++, stem++)
        if (*pattern != *stem)
            return 0;
    return *stem == '\0' || *pattern == '*';
}

static const char *next_pattern(const char *pattern)
{
    while (*pattern != '\0' && *pattern != ',')
        pattern++;
    return *pattern == ',' ? pattern + 1 : NULL;
}

int parameters_may_select(const struct parameters *parameters, const char *stem)
{
    for (const char *pattern = parameters->only; pattern != NULL; pattern = next_pattern(pattern))
        if (can_match(pattern, stem))
            return 1;
    return 0;
}

int parameters_select(const struct parameters *parameters, const char *key)
{
    for (const char *pattern = parameters->only; pattern != NULL; pattern = next_pattern(pattern))
        if (matches(pattern, key))
            return 1;
    return 0;
}
