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

#define PARAMS_MAX 8

static const struct registered_circle **circles; // sorted; ends with NULL
static int fair;                                 // the ordinary scheduler decides who runs
static const char *apart;                        // how far the two CPUs are apart, or NULL

// A circle and the one that is made of it, which has a longer key, share their source.
static int by_source(const void *one, const void *other)
{
    const struct registered_circle *const *a = one, *const *b = other;
    int order = strverscmp((*a)->source, (*b)->source);
    return order != 0 ? order : strcmp((*a)->key, (*b)->key);
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
    for (const struct cyc_expect *e = c->at_least; e != NULL && e->counter != NULL; e++)
        if (!counters_known(e->counter))
            return ".at_least names a counter that this harness does not have";
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

static void leave_out_two_cpus(void)
{
    size_t kept = 0;
    for (size_t i = 0; circles[i] != NULL; i++)
        if (circles[i]->circle->placement == SAME_CPU)
            circles[kept++] = circles[i];
    circles[kept] = NULL;
}

// The same circle with its peers on another CPU, or NULL if memory is short.
static const struct registered_circle *place_elsewhere(const struct registered_circle *one)
{
    const struct elsewhere *elsewhere = one->circle->elsewhere;
    struct linux_circle *circle = malloc(sizeof *circle);
    struct registered_circle *registered = malloc(sizeof *registered);
    char *key, *title;
    if (circle == NULL || registered == NULL || asprintf(&key, "%s.other_cpu", one->key) < 0 ||
        asprintf(&title, "%s, between two CPUs", one->circle->title) < 0)
        return NULL;
    *circle = *one->circle;
    circle->title = title;
    circle->sequence = elsewhere->sequence != NULL ? elsewhere->sequence : circle->sequence;
    circle->expect = elsewhere->expect;
    circle->at_least = elsewhere->at_least;
    circle->setup = elsewhere->setup != NULL ? elsewhere->setup : circle->setup;
    circle->pass = elsewhere->pass != NULL ? elsewhere->pass : circle->pass;
    circle->turns = elsewhere->pass != NULL ? NULL : circle->turns;
    circle->elsewhere = NULL;
    circle->placement = OTHER_CPU;
    *registered = (struct registered_circle){key, one->source, circle};
    return registered;
}

// The linked circles, `more`, and what is made of them for two CPUs, in no order. 0, or -1: out of
// memory.
static int gather(const struct registered_circle *const *more)
{
    size_t linked = (size_t)(__stop_cyc_circles - __start_cyc_circles), count = linked;
    while (more[count - linked] != NULL)
        count++;
    circles = calloc(2 * count + 1, sizeof *circles);
    if (circles == NULL)
        return -1;
    memcpy(circles, __start_cyc_circles, linked * sizeof *circles);
    memcpy(circles + linked, more, (count - linked) * sizeof *circles);
    size_t all = count;
    for (size_t i = 0; i < count; i++) {
        if (circles[i]->circle->elsewhere == NULL)
            continue;
        circles[all] = place_elsewhere(circles[i]);
        if (circles[all++] == NULL)
            return -1;
    }
    return 0;
}

// Sorts the circles; the first one that is wrong, as a sentence, or NULL.
static const char *check(void)
{
    static char sentence[320];
    size_t count = 0;
    while (circles[count] != NULL)
        count++;
    qsort(circles, count, sizeof *circles, by_source);
    for (size_t i = 0; i < count; i++) {
        const char *what = problem(circles[i]);
        if (what != NULL) {
            snprintf(sentence, sizeof sentence, "%s: circle \"%s\": %s", circles[i]->source,
                     circles[i]->key, what);
            return sentence;
        }
    }
    return NULL;
}

const char *registry_prepare(const struct registered_circle *const *more,
                             const struct options *options)
{
    if (gather(more) != 0)
        return "out of memory";
    // The process of a visit wants one circle; its run has checked and sorted all of them.
    const char *wrong = options->visit < 0 ? check() : NULL;
    if (wrong != NULL)
        return wrong;
    fair = options_fair(options);
    apart = options->apart;
    if (fair)
        leave_out_priorities();
    if (options->other_cpu == ONE_CPU)
        leave_out_two_cpus();
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

// What the ordinary scheduler guarantees of a circle with several threads on one CPU. Each side is
// switched to at least once a turn, because a reply follows its request. How often a thread blocks
// or is preempted, whom it wakes, and with it which system calls are made, is the scheduler's
// choice.
static void weaken(struct cyc_contract *contract, int has_server)
{
    static const char *const bounded[] = {"switches", "space_switches", "cpu_switches", NULL};
    static const char *const kept[] = {"faults", "handled", "elsewhere", NULL};
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
    contract->at_least = contract->at_least != NULL ? contract->at_least : least;
}

static int several_threads(const struct linux_circle *c)
{
    for (const struct cyc_expect *e = c->expect; e->counter != NULL; e++)
        if (strcmp(e->counter, "cpu_switches") == 0)
            return 1; // a thread is born and ends in every turn
    return c->server != 0;
}

// The circle's own parameters and where its peers run.
static const struct cyc_param *placed(const struct linux_circle *c)
{
    static struct cyc_param all[PARAMS_MAX + 1];
    size_t count = 0;
    if (c->placement == SAME_CPU)
        return c->params;
    for (const struct cyc_param *p = c->params; p != NULL && p->name != NULL; p++)
        if (count < PARAMS_MAX - 2)
            all[count++] = *p;
    all[count++] = (struct cyc_param){"placement", "other_cpu"};
    if (apart != NULL)
        all[count++] = (struct cyc_param){"apart", apart};
    all[count] = (struct cyc_param){0};
    return all;
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
        .at_least = c->at_least,
        .params = placed(c),
        .correction = "none",
        .source = registered->source,
    };
    if (fair && several_threads(c))
        weaken(&contract, c->server != 0);
    return contract;
}
