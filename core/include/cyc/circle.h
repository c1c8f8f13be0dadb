// SPDX-License-Identifier: BSD-2-Clause
//
// What is measured: a circle (KBench's word for a benchmark), its contract and its flow. A turn is
// one iteration of a circle, a test a timed batch of turns. Freestanding.
#ifndef CYC_CIRCLE_H
#define CYC_CIRCLE_H

#include <stddef.h>
#include <stdint.h>

// Exact outcome count per turn, e.g. {"switches", 2}. A list ends with {0}.
struct cyc_expect {
    const char *counter; // name in the rig's counter list
    int64_t per_turn;
};

// One parameter of the circle, e.g. {"words", "10"}. A list ends with {0}.
struct cyc_param {
    const char *name;
    const char *value;
};

// What a circle times, stated so that it can be checked. Every text is ASCII.
struct cyc_contract {
    const char *key;                   // object.operation[.condition...][.from_to_to], lower case
    const char *title;                 // one line for people
    const char *const *sequence;       // events of one turn in order, "who: what"; ends with NULL
    const char *interval;              // "round_trip", "one_way" or "half"
    const char *from, *to;             // the event at each end of the interval
    const struct cyc_expect *expect;   // may be NULL: nothing is checked
    const struct cyc_expect *at_least; // lower bounds per turn of other counters; may be NULL
    const struct cyc_param *params;    // may be NULL
    const char *correction;            // what is subtracted later, or "none"
    const char *source; // file and line of its definition, see CYC_SOURCE; may be NULL
};

// These lists, written in place at file scope.
#define CYC_SEQUENCE(...) ((const char *const[]){__VA_ARGS__, NULL})
#define CYC_EXPECT(...) ((const struct cyc_expect[]){__VA_ARGS__, {0}})
#define CYC_PARAMS(...) ((const struct cyc_param[]){__VA_ARGS__, {0}})
// The `source` of a contract that is written on this line.
#define CYC_SOURCE __FILE__ ":" CYC_TEXT(__LINE__)
#define CYC_TEXT(token) CYC_TEXT_OF(token)
#define CYC_TEXT_OF(token) #token

// Runs the circle `turns` times. This loop is the code under test: it stores
// nothing to memory that the circle itself does not need, and is the same code for every `turns`.
typedef void cyc_turns_fn(void *arg, uint64_t turns);

// One directly timed turn whose ends lie in different threads: returns clock end - begin.
typedef int64_t cyc_pass_fn(void *arg);

// A circle as its host runs it. `pass` is NULL if one turn is timed from outside.
struct cyc_circle {
    const struct cyc_contract *contract;
    cyc_turns_fn *turns;
    cyc_pass_fn *pass;
    void *arg;
};

// KBench's flow: groups of tests; group g has test size initial + g * delta turns.
struct cyc_flow {
    uint32_t initial; // turns of a test in the first group, >= 1
    uint32_t delta;   // turns added from group to group, >= 0
    uint32_t groups;  // >= 1
    uint32_t tests;   // per group, 1 to the size of the caller's sample buffer
};

// The loop of a circle of few instructions: one branch per sixteen turns, so that the branch adds
// next to nothing to the result. Other circles use a plain loop.
#define CYC_TURNS_PER_BRANCH 16
#define CYC_FOUR_TIMES(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
#define CYC_SHORT_TURNS(turns, ...)                                            \
    for (; (turns) >= CYC_TURNS_PER_BRANCH; (turns) -= CYC_TURNS_PER_BRANCH) { \
        CYC_FOUR_TIMES(CYC_FOUR_TIMES(__VA_ARGS__))                            \
    }                                                                          \
    for (; (turns) > 0; (turns)--)                                             \
    __VA_ARGS__

#endif
