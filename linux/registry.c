// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

#define KEY_MAX 95 // a plan line holds no longer key

// The linker names the ends of a section whose name is a C identifier.
extern const struct registered_circle *const __start_cyc_circles[], *const __stop_cyc_circles[];

static const struct registered_circle **circles; // sorted; ends with NULL
static int fair;                                 // the ordinary scheduler decides who runs

static int by_source(const void *one, const void *other)
{
    const struct registered_circle *const *a = one, *const *b = other;
    return strverscmp((*a)->source, (*b)->source);
}

static const char *contract_problem(const struct linux_circle *c)
{
    if (c->title == NULL || c->sequence == NULL || c->from == NULL || c->to == NULL)
        return "a contract needs .title, .sequence, .from and .to";
    if ((unsigned)c->interval > HALF)
        return ".interval is ROUND_TRIP, ONE_WAY or HALF";
    if (c->expect == NULL)
        return "a contract needs .expect, the exact counts of a turn";
    for (const struct cyc_expect *e = c->expect; e->counter != NULL; e++)
        if (!counters_known(e->counter))
            return ".expect names a counter that this harness does not have; FORMAT.md lists them";
    return NULL;
}

static const char *problem(const struct registered_circle *registered)
{
    const struct linux_circle *c = registered->circle;
    size_t plain = strspn(registered->key, "abcdefghijklmnopqrstuvwxyz0123456789._+");
    if (plain == 0 || plain > KEY_MAX || registered->key[plain] != '\0')
        return "a key is 1 to 95 characters of a-z, 0-9, '.', '_' and '+'";
    if ((c->turns == NULL) == (c->pass == NULL))
        return "a circle has either .turns or .pass";
    if (c->client < 1 || c->client > 99 || c->server < 0 || c->server > 99)
        return ".client is a priority from 1 to 99, .server one from 0 to 99";
    if (registry_find(registered->key) != registered)
        return "another circle has the same key";
    return contract_problem(c);
}

// What of a circle the ordinary scheduler leaves as it is: nobody has a priority there, and a woken
// thread runs at once or later. A request and its reply remain in order.
static int needs_priorities(const struct linux_circle *c)
{
    return c->needs_fifo ||
           (c->server != 0 && (c->server != c->client || c->interval != ROUND_TRIP || c->pass));
}

static void leave_out_priorities(void)
{
    size_t kept = 0;
    for (size_t i = 0; circles[i] != NULL; i++)
        if (!needs_priorities(circles[i]->circle))
            circles[kept++] = circles[i];
    circles[kept] = NULL;
}

const char *registry_prepare(const struct registered_circle *const *more, int is_fair)
{
    static char sentence[320];
    size_t linked = (size_t)(__stop_cyc_circles - __start_cyc_circles), count = linked;
    while (more[count - linked] != NULL)
        count++;
    circles = calloc(count + 1, sizeof *circles);
    if (circles == NULL)
        return "out of memory";
    memcpy(circles, __start_cyc_circles, linked * sizeof *circles);
    memcpy(circles + linked, more, (count - linked) * sizeof *circles);
    qsort(circles, count, sizeof *circles, by_source);
    for (size_t i = 0; i < count; i++) {
        const char *what = problem(circles[i]);
        if (what != NULL) {
            snprintf(sentence, sizeof sentence, "%s: circle \"%s\": %s", circles[i]->source,
                     circles[i]->key, what);
            return sentence;
        }
    }
    fair = is_fair;
    if (fair)
        leave_out_priorities();
    return NULL;
}

const struct registered_circle *const *registry_circles(void)
{
    return circles;
}

const struct registered_circle *registry_find(const char *key)
{
    for (size_t i = 0; circles[i] != NULL; i++)
        if (strcmp(circles[i]->key, key) == 0)
            return circles[i];
    return NULL;
}

static int is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

#define EXPECT_MAX 16

// What the ordinary scheduler guarantees of a circle with several threads. Each side is switched to
// at least once a turn, because a reply follows its request. How often a thread blocks or is
// preempted, whom it wakes, and with it which system calls are made, is the scheduler's choice.
static void weaken(struct cyc_contract *contract, int has_server)
{
    static const char *const bounded[] = {"switches", "space_switches", "cpu_switches", NULL};
    static const char *const kept[] = {"faults", "handled", NULL};
    static struct cyc_expect exact[EXPECT_MAX + 1], least[EXPECT_MAX + 1];
    int exacts = 0, leasts = 0;
    for (const struct cyc_expect *e = contract->expect; e->counter != NULL; e++) {
        if (is_one_of(e->counter, bounded) && leasts < EXPECT_MAX)
            least[leasts++] = *e;
        else if (exacts < EXPECT_MAX && (is_one_of(e->counter, kept) ||
                                         (!has_server && strcmp(e->counter, "entries") == 0)))
            exact[exacts++] = *e;
    }
    exact[exacts] = least[leasts] = (struct cyc_expect){0};
    contract->expect = exact;
    contract->at_least = least;
}

static int several_threads(const struct linux_circle *c)
{
    for (const struct cyc_expect *e = c->expect; e->counter != NULL; e++)
        if (strcmp(e->counter, "cpu_switches") == 0)
            return 1; // a thread is born and ends in every turn
    return c->server != 0;
}

struct cyc_contract registry_contract(const struct registered_circle *registered)
{
    static const char *const intervals[] = {
        [ROUND_TRIP] = "round_trip", [ONE_WAY] = "one_way", [HALF] = "half"};
    const struct linux_circle *c = registered->circle;
    struct cyc_contract contract = {
        .key = registered->key,
        .title = c->title,
        .sequence = c->sequence,
        .interval = intervals[c->interval],
        .from = c->from,
        .to = c->to,
        .expect = c->expect,
        .params = c->params,
        .correction = "none",
        .source = registered->source,
    };
    if (fair && several_threads(c))
        weaken(&contract, c->server != 0);
    return contract;
}
