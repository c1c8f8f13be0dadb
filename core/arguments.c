// SPDX-License-Identifier: BSD-2-Clause
#include <cyc/arguments.h>

#define NUMBER_MAX 1000000000u

// A piece of the text, not terminated.
struct word {
    const char *text;
    size_t length;
};

// What is behind `name` in the word, or -1 if the word does not begin with it.
static int strip(struct word *word, const char *name)
{
    size_t i = 0;
    for (; name[i] != '\0'; i++)
        if (i == word->length || word->text[i] != name[i])
            return -1;
    word->text += i;
    word->length -= i;
    return 0;
}

static int is(struct word word, const char *text)
{
    return strip(&word, text) == 0 && word.length == 0;
}

// The value of a word `name=value`, or -1 if it is another word.
static int value_of(struct word word, const char *name, struct word *value)
{
    *value = word;
    return strip(value, name) == 0 && strip(value, "=") == 0 && value->length > 0 ? 0 : -1;
}

static int take_number(struct word value, uint32_t *number)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < value.length; i++) {
        // Nothing above the limit is multiplied again, so that the sum cannot overflow.
        if (value.text[i] < '0' || value.text[i] > '9' || sum > NUMBER_MAX)
            return -1;
        sum = sum * 10 + (uint64_t)(value.text[i] - '0');
    }
    if (sum > NUMBER_MAX)
        return -1;
    *number = (uint32_t)sum;
    return 0;
}

static int take_text(struct word value, char *text, size_t room)
{
    // Half a pattern or name would mean something else.
    if (value.length >= room)
        return -1;
    for (size_t i = 0; i < value.length; i++)
        text[i] = value.text[i];
    text[value.length] = '\0';
    return 0;
}

static int take_method(struct word value, enum cyc_method *method)
{
    static const char *const names[] = {
        [CYC_ACCUMULATED] = "accumulated", [CYC_DIRECT] = "direct", [CYC_PASSES] = "passes"};
    for (enum cyc_method m = CYC_ACCUMULATED; m <= CYC_PASSES; m++)
        if (is(value, names[m])) {
            *method = m;
            return 0;
        }
    return -1;
}

static int take_numbers(const struct cyc_argument *list, struct word word)
{
    struct word value;
    for (; list != NULL && list->name != NULL; list++)
        if (value_of(word, list->name, &value) == 0)
            return take_number(value, list->value);
    return -1;
}

static int take_word(struct cyc_arguments *a, struct word word, const struct cyc_argument *more)
{
    const struct cyc_argument numbers[] = {
        {"initial", &a->flow.initial},
        {"delta", &a->flow.delta},
        {"groups", &a->flow.groups},
        {"tests", &a->flow.tests},
        {"passes", &a->passes},
        {"run", &a->run},
        {"list", &a->list},
        {"exact", &a->exact},
        {NULL, NULL},
    };
    struct word value;
    if (value_of(word, "method", &value) == 0)
        return take_method(value, &a->method);
    if (value_of(word, "clock", &value) == 0)
        return take_text(value, a->clock, sizeof a->clock);
    if (value_of(word, "only", &value) == 0)
        return take_text(value, a->only, sizeof a->only);
    // Ours first, so that no word of the port's hides one of them.
    return take_numbers(numbers, word) == 0 ? 0 : take_numbers(more, word);
}

// Member by member: a compiler may make calls of memset() and memcpy() out of a struct's
// assignment.
static void set_defaults(struct cyc_arguments *a)
{
    a->method = CYC_ACCUMULATED;
    a->flow.initial = 30;
    a->flow.delta = 1;
    a->flow.groups = 5;
    a->flow.tests = 30;
    a->passes = 30;
    a->run = a->list = a->exact = 0;
    a->clock[0] = '\0';
    a->only[0] = '*';
    a->only[1] = '\0';
}

const char *cyc_arguments_read(struct cyc_arguments *arguments, const char *text,
                               const struct cyc_argument *more)
{
    const char *unknown = NULL;
    set_defaults(arguments);
    while (*text != '\0') {
        struct word word = {text, 0};
        while (text[word.length] != '\0' && text[word.length] != ' ')
            word.length++;
        // A command line has words for others, too: the caller decides whether that matters.
        if (word.length > 0 && take_word(arguments, word, more) != 0 && unknown == NULL)
            unknown = text;
        text += word.length + (text[word.length] == ' ');
    }
    return unknown;
}

// `pattern` ends at a comma or the end of the text.
static int matches(const char *pattern, const char *key)
{
    for (; *pattern != '\0' && *pattern != ','; pattern++, key++) {
        if (*pattern == '*') {
            // The star takes as little as possible; what follows it decides.
            while (!matches(pattern + 1, key))
                if (*key++ == '\0')
                    return 0;
            return 1;
        }
        if (*pattern != *key)
            return 0;
    }
    return *key == '\0';
}

int cyc_arguments_select(const struct cyc_arguments *arguments, const char *key)
{
    const char *pattern = arguments->only;
    for (;;) {
        if (matches(pattern, key))
            return 1;
        // To the next pattern, if there is one.
        while (*pattern != ',')
            if (*pattern++ == '\0')
                return 0;
        pattern++;
    }
}
