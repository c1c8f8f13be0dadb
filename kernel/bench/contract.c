// SPDX-License-Identifier: BSD-2-Clause
//
// From the circle as written down to its variants and their contracts.
#include "kernel_circle.h"
#include "string.h"

#define EXPECT_MAX 16
#define PARAMS_MAX 16

const struct circle *circle_number(uint32_t number)
{
    for (const struct circle *const *family = families; *family != NULL; family++)
        for (const struct circle *c = *family; c->contract.key != NULL; c++)
            if (number-- == 0)
                return c;
    return NULL;
}

// Bit i of `sides` and what it says.
static const struct variant side_variants[] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0},
                                               {0, 1, 0}, {1, 0, 0}, {1, 1, 0}};
#define SIDES (int)(sizeof side_variants / sizeof side_variants[0])

static int exists(const struct circle *circle, const struct variant *v, int side, int cross)
{
    int spaces = circle->spaces != 0 ? (int)circle->spaces : SAME_SPACE;
    if ((circle->sides >> side & 1) == 0)
        return 0;
    if (v->client_user && v->peer_user ? (spaces >> cross & 1) == 0 : cross)
        return 0;
    return CONFIG_USERSPACE || !(v->client_user || v->peer_user);
}

int variant_next(const struct circle *circle, int previous, struct variant *variant)
{
    for (int i = previous + 1; i < 2 * SIDES; i++) {
        *variant = side_variants[i / 2];
        variant->cross_space = (uint8_t)(i % 2);
        if (exists(circle, variant, i / 2, i % 2))
            return i;
    }
    return -1;
}

static const char *mode_name(int user)
{
    return user ? "user" : "kernel";
}

static void write_key(char *key, const struct circle *circle, const struct variant *v)
{
    const char *limit = key + KEY_BYTES;
    static const char *const pairs[2][2] = {{".k_to_k", ".k_to_u"}, {".u_to_k", ".u_to_u"}};
    char *end = string_append(key, limit, circle->contract.key);
    if (circle->naming == BY_FROM) {
        end = string_append(string_append(end, limit, "."), limit, mode_name(v->peer_user));
        end = string_append(string_append(end, limit, ".from."), limit, mode_name(v->client_user));
    } else if (circle->naming == BY_MODE || circle->naming == BY_PEER) {
        int user = circle->naming == BY_MODE ? v->client_user : v->peer_user;
        end = string_append(string_append(end, limit, "."), limit, mode_name(user));
    } else if (circle->naming == BY_PAIR) {
        end = string_append(end, limit, pairs[v->client_user][v->peer_user]);
    }
    if (circle->spaces != 0 && v->client_user && v->peer_user)
        end = string_append(end, limit, v->cross_space ? ".cross" : ".same");
    if (circle->other_cpu)
        string_append(end, limit, ".other_cpu");
}

static int states(const struct circle *circle, const char *counter)
{
    for (const struct cyc_expect *e = circle->contract.expect; e != NULL && e->counter != NULL; e++)
        if (strcmp(e->counter, counter) == 0)
            return 1;
    return 0;
}

// What follows from the circle's fields, except where its contract says otherwise, and then what
// the contract adds.
static void write_expect(struct cyc_expect *out, const struct circle *circle,
                         const struct variant *v)
{
    int64_t entries =
        (v->client_user ? circle->client_calls : 0) + (v->peer_user ? circle->peer_calls : 0);
    const struct cyc_expect derived[] = {
        {"entries", entries},
        {"switches", circle->switches},
        {"space_switches", v->cross_space ? circle->switches + circle->moves : 0},
        {"interrupts", circle->interrupts},
        {"refused", 0}, // no circle times calls that do nothing
        {"time_reads",
         CONFIG_MCS && !circle->passive ? circle->switches : 0}, // a switch to another context
    };
    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++)
        if (!states(circle, derived[i].counter))
            *out++ = derived[i];
    for (const struct cyc_expect *e = circle->contract.expect; e != NULL && e->counter != NULL; e++)
        *out++ = *e;
    *out = (struct cyc_expect){0};
}

static const char *priority_text(char text[4], unsigned priority)
{
    char *at = text;
    if (priority >= 100)
        *at++ = (char)('0' + priority / 100);
    if (priority >= 10)
        *at++ = (char)('0' + priority / 10 % 10);
    *at++ = (char)('0' + priority % 10);
    *at = '\0';
    return text;
}

static void write_params(struct cyc_param *out, const struct circle *circle,
                         const struct variant *v)
{
    static char client_priority[4], peer_priority[4];
    *out++ = (struct cyc_param){"client", mode_name(v->client_user)};
    *out++ = (struct cyc_param){"client_priority",
                                priority_text(client_priority, circle->client_priority)};
    if (circle->peer != NULL || circle->naming == BY_FROM) {
        *out++ = (struct cyc_param){"peer", mode_name(v->peer_user)};
        *out++ = (struct cyc_param){"peer_priority",
                                    priority_text(peer_priority, circle->peer_priority)};
        *out++ = (struct cyc_param){"space", v->cross_space ? "cross" : "same"};
    }
    for (const struct cyc_param *p = circle->contract.params; p != NULL && p->name != NULL; p++)
        *out++ = *p;
    *out = (struct cyc_param){0};
}

const struct cyc_contract *variant_contract(const struct circle *circle,
                                            const struct variant *variant)
{
    static char key[KEY_BYTES];
    static struct cyc_expect expect[EXPECT_MAX];
    static struct cyc_param params[PARAMS_MAX];
    static struct cyc_contract contract;
    write_key(key, circle, variant);
    write_expect(expect, circle, variant);
    write_params(params, circle, variant);
    contract = circle->contract;
    contract.key = key;
    contract.expect = expect;
    contract.params = params;
    return &contract;
}
