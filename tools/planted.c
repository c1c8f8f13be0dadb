// SPDX-License-Identifier: BSD-2-Clause
//
// Linked into a harness with -Wl,--wrap=registry_find it plants a known slow-down in circles:
// behind the turns of each test, within the timed window, so many links of a chain for each turn.
// The file that CYCLOMETER_PLANTED names has a line "KEY THOUSANDTHS_OF_A_CYCLE" for each circle;
// without it nothing is planted.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linux_circle.h"

#define LINKS_AN_ITERATION 2

extern const struct registered_circle *__real_registry_find(const char *key);
extern const struct registered_circle *__wrap_registry_find(const char *key);

static cyc_turns_fn *planted_in;
static uint64_t planted_millicycles; // a turn

// Each link takes a cycle, because it needs the result of the one before it.
static void chain(uint64_t iterations)
{
    uint64_t x = 1, odd = 0x9e3779b97f4a7c15u;
    for (; iterations > 0; iterations--)
#if defined(__x86_64__)
        __asm__ volatile("add %1, %0\n\txor %1, %0" : "+r"(x) : "r"(odd) : "cc");
#elif defined(__aarch64__)
        __asm__ volatile("add %0, %0, %1\n\teor %0, %0, %1" : "+r"(x) : "r"(odd));
#else
        __asm__ volatile("add %0, %0, %1\n\txor %0, %0, %1" : "+r"(x) : "r"(odd));
#endif
}

static void slower_turns(void *arg, uint64_t turns)
{
    planted_in(arg, turns);
    chain(turns * planted_millicycles / (1000 * LINKS_AN_ITERATION));
}

static uint64_t millicycles_of(const char *key)
{
    const char *path = getenv("CYCLOMETER_PLANTED");
    FILE *table = path != NULL ? fopen(path, "r") : NULL;
    char name[200];
    unsigned long found = 0, listed;
    if (table == NULL)
        return 0;
    while (fscanf(table, "%199s %lu", name, &listed) == 2)
        if (strcmp(name, key) == 0)
            found = listed;
    fclose(table);
    return found;
}

const struct registered_circle *__wrap_registry_find(const char *key)
{
    static struct linux_circle circle;
    static struct registered_circle found;
    const struct registered_circle *real = __real_registry_find(key);
    if (real == NULL || real->circle->turns == NULL)
        return real;
    planted_millicycles = millicycles_of(key);
    planted_in = real->circle->turns;
    circle = *real->circle;
    circle.turns = planted_millicycles > 0 ? slower_turns : real->circle->turns;
    found = *real;
    found.circle = &circle;
    return &found;
}
