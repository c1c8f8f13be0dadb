// SPDX-License-Identifier: BSD-2-Clause
//
// The flow, run on a scripted rig that notes every call: b and e clock readings, c counters read,
// tN turns, p a pass, E an eviction, | a line written.
#include "test.h"

#include <stdio.h>

#define SAMPLES 4

static struct text calls, out;
static uint64_t now;    // the scripted clock; a turn takes 10, a reading 1
static int64_t counted; // the scripted counter; a turn adds 2, the other counter 3
static struct cyc_sample samples[SAMPLES + 1];

static void note(const char *call)
{
    text_add(&calls, call, strlen(call));
}

static uint64_t begin(void)
{
    note("b");
    return now++;
}

static uint64_t end(void)
{
    note("e");
    return now++;
}

static void count(void *host, int64_t *counts)
{
    CHECK(host == &calls);
    note("c");
    counts[0] = 2 * counted;
    counts[1] = 100 + 3 * counted;
}

static void evict(void *host)
{
    CHECK(host == &calls);
    note("E");
}

static void turns(void *arg, uint64_t number)
{
    char text[32];
    CHECK(arg == &counted);
    snprintf(text, sizeof text, "t%d", (int)number);
    note(text);
    counted += (int64_t)number;
    now += 10 * number;
}

static int64_t pass(void *arg)
{
    CHECK(arg == &counted);
    note("p");
    counted++;
    now += 10;
    return 7;
}

static void put(void *context, const char *bytes, size_t length)
{
    text_add(context, bytes, length);
    if (bytes[length - 1] == '\n')
        note("|");
}

static const struct cyc_contract contract = {
    .key = "k",
    .title = "t",
    .sequence = (const char *const[]){NULL},
    .interval = "round_trip",
    .from = "f",
    .to = "t",
    .expect = (const struct cyc_expect[]){{"twice", 2}, {0}},
    .correction = "none",
};
static const char *const counters[] = {"twice", "thrice", NULL};
static struct cyc_writer writer;
static const struct cyc_circle by_turns = {&contract, turns, NULL, &counted};
static const struct cyc_circle by_passes = {&contract, NULL, pass, &counted};

static struct cyc_rig fresh_rig(void)
{
    text_clear(&calls);
    text_clear(&out);
    writer = (struct cyc_writer){.put = put, .context = &out};
    now = 1000;
    counted = 0;
    return (struct cyc_rig){
        .clock = {.name = "script", .unit = "ticks", .begin = begin, .end = end},
        .origin = 900,
        .counters = counters,
        .count = count,
        .evict = evict,
        .host = &calls,
        .writer = &writer,
        .samples = samples,
        .samples_max = SAMPLES,
    };
}

static void order_of_calls(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_flow flow = {.initial = 5, .delta = 2, .groups = 2, .tests = 2};
    CHECK_INT(cyc_flow_accumulated(&rig, &by_turns, &flow, 3), 0);
    CHECK_TEXT(calls.bytes, "|t3cbt5eccbt5ec|t3cbt7eccbt7ec|");
}

static uint64_t core(void)
{
    note("k");
    return now * 3;
}

static void a_counter_of_the_core_is_read_round_each_test(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_flow flow = {.initial = 5, .delta = 0, .groups = 1, .tests = 2};
    rig.core = core;
    CHECK_INT(cyc_flow_accumulated(&rig, &by_turns, &flow, 3), 0);
    // Counter and clock are read in the same order at both ends, so that they count equally long.
    CHECK_TEXT(calls.bytes, "|t3ckbt5ekecckbt5ekec|");
    CHECK(strstr(out.bytes, "\"core_cycles\":[156,156],\"core_ticks\":[52,52]}}") != NULL);
}

static void chain(void)
{
    note("r");
}

static void a_chain_is_timed_before_and_after_each_test(void)
{
    struct cyc_rig rig = fresh_rig();
    rig.chain = chain;
    CHECK_INT(cyc_flow_direct(&rig, &by_passes, 1, 3), 0);
    CHECK_TEXT(calls.bytes, "|cbrebbebrec|pppcbrebpbrec|");
    CHECK(strstr(out.bytes, "\"chain_before\":[1],\"chain_after\":[1]}}") != NULL);
}

static void independent(void)
{
    note("i");
}

static void independent_instructions_lie_nearest_to_the_test(void)
{
    struct cyc_rig rig = fresh_rig();
    rig.chain = chain;
    rig.independent = independent;
    CHECK_INT(cyc_flow_direct(&rig, &by_passes, 1, 3), 0);
    CHECK_TEXT(calls.bytes, "|cbrebiebbebiebrec|pppcbrebiebpbiebrec|");
    CHECK(strstr(out.bytes, "\"issue_before\":[1],\"chain_after\":[1],\"issue_after\":[1]}}") !=
          NULL);
    rig = fresh_rig();
    rig.core = core;
    rig.independent = independent;
    CHECK_INT(cyc_flow_direct(&rig, &by_passes, 1, 3), 0);
    CHECK(strstr(calls.bytes, "bie") < strchr(calls.bytes, 'k')); // not within what it counts
}

static void sizes_values_and_counters(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_flow flow = {.initial = 4, .delta = 3, .groups = 3, .tests = 2};
    CHECK_INT(cyc_flow_accumulated(&rig, &by_turns, &flow, 9), 0);
    for (int group = 0; group < 3; group++) {
        int n = 4 + 3 * group;
        char wanted[256];
        snprintf(wanted, sizeof wanted,
                 "\"method\":\"accumulated\",\"visit\":9,\"group\":%d,\"turns\":%d,\"values\":[%d,%"
                 "d],\"at\":[",
                 group, n, 10 * n + 1, 10 * n + 1);
        CHECK_INT(occurrences(out.bytes, wanted), 1);
        snprintf(wanted, sizeof wanted, "\"counters\":{\"twice\":[%d,%d],\"thrice\":[%d,%d]}}",
                 2 * n, 2 * n, 3 * n, 3 * n);
        CHECK_INT(occurrences(out.bytes, wanted), 1);
    }
    CHECK_INT((int64_t)writer.values, 6);
    CHECK_INT((int64_t)writer.records, 4);
}

static void time_since_origin(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_flow flow = {.initial = 1, .delta = 0, .groups = 1, .tests = 3};
    CHECK_INT(cyc_flow_accumulated(&rig, &by_turns, &flow, 0), 0);
    // 100 since the origin, 30 of settling; then 12 per test: two readings and a turn
    CHECK_INT(occurrences(out.bytes, "\"at\":[130,142,154]"), 1);
}

static void clock_that_wraps(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_flow flow = {.initial = 1, .delta = 0, .groups = 1, .tests = 1};
    now = UINT64_MAX - 32; // settling takes 30; the test begins 2 before the wrap
    rig.origin = UINT64_MAX - 40;
    CHECK_INT(cyc_flow_accumulated(&rig, &by_turns, &flow, 0), 0);
    CHECK_INT(occurrences(out.bytes, "\"values\":[11],\"at\":[38]"), 1);
}

static void proof_says_so(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_flow flow = {.initial = 2, .delta = 0, .groups = 1, .tests = 1};
    CHECK_INT(cyc_flow_proof(&rig, &by_turns, &flow, 0), 0);
    CHECK_INT(occurrences(out.bytes, "\"method\":\"proof\""), 2);
    CHECK_INT(occurrences(out.bytes, "\"method\":\"accumulated\""), 0);
    CHECK_TEXT(calls.bytes, "|t3cbt2ec|");
}

static void passes_are_summed(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_flow flow = {.initial = 3, .delta = 0, .groups = 1, .tests = 1};
    CHECK_INT(cyc_flow_proof(&rig, &by_passes, &flow, 0), 0);
    CHECK_TEXT(calls.bytes, "|pppcbpppc|");
    CHECK_INT(occurrences(out.bytes, "\"values\":[21]"), 1);
    CHECK_INT(occurrences(out.bytes, "\"twice\":[6]"), 1);
}

static void direct_method(void)
{
    struct cyc_rig rig = fresh_rig();
    CHECK_INT(cyc_flow_direct(&rig, &by_turns, 2, 4), 0);
    CHECK_TEXT(calls.bytes, "|cbeccbec|t3cbt1eccbt1ec|");
    static const char overhead[] =
        "{\"kind\":\"overhead\",\"seq\":1,\"circle\":\"k\",\"method\":\"direct\","
        "\"visit\":4,\"group\":0,\"turns\":1,\"values\":[1,1]";
    static const char passes[] =
        "{\"kind\":\"pass\",\"seq\":2,\"circle\":\"k\",\"method\":\"direct\",\"visit\":4,"
        "\"group\":0,\"turns\":1,\"values\":[11,11]";
    CHECK_INT(occurrences(out.bytes, overhead), 1);
    CHECK_INT(occurrences(out.bytes, passes), 1);
    CHECK_INT(
        occurrences(out.bytes, "\"flow\":{\"initial\":1,\"delta\":0,\"groups\":1,\"tests\":2}"), 1);
    CHECK_INT((int64_t)writer.values, 4);
}

static void direct_method_of_a_pass(void)
{
    struct cyc_rig rig = fresh_rig();
    CHECK_INT(cyc_flow_direct(&rig, &by_passes, 2, 0), 0);
    CHECK_TEXT(calls.bytes,
               "|cbbeccbbec|pppcbpccbpc|"); // the empty pass reads the clock twice by itself
    CHECK_INT(occurrences(out.bytes, "\"values\":[1,1]"), 1);
    CHECK_INT(occurrences(out.bytes, "\"values\":[7,7]"), 1);
}

static void passes_from_cold_to_hot(void)
{
    struct cyc_rig rig = fresh_rig();
    CHECK_INT(cyc_flow_passes(&rig, &by_turns, 3, 0), 0);
    CHECK_TEXT(calls.bytes, "|cbeccbeccbec|t3Ecbt1eccbt1eccbt1ec|");
    CHECK_INT(occurrences(out.bytes, "\"method\":\"passes\""), 3);
    rig = fresh_rig();
    rig.evict = NULL;
    CHECK_INT(cyc_flow_passes(&rig, &by_turns, 1, 0), 0);
    CHECK_TEXT(calls.bytes, "|cbec|t3cbt1ec|");
}

// Nothing may run and nothing may be written.
static void check_refused(int result)
{
    CHECK_INT(result, -1);
    CHECK_TEXT(calls.bytes, "");
    CHECK_TEXT(out.bytes, "");
}

static void refusals(void)
{
    struct cyc_rig rig = fresh_rig();
    struct cyc_flow flow = {.initial = 1, .delta = 0, .groups = 1, .tests = 0};
    check_refused(cyc_flow_accumulated(&rig, &by_turns, &flow, 0));
    check_refused(cyc_flow_proof(&rig, &by_turns, &flow, 0));
    flow.tests = SAMPLES + 1;
    check_refused(cyc_flow_accumulated(&rig, &by_turns, &flow, 0));
    check_refused(cyc_flow_proof(&rig, &by_turns, &flow, 0));
    check_refused(cyc_flow_direct(&rig, &by_turns, 0, 0));
    check_refused(cyc_flow_direct(&rig, &by_turns, SAMPLES + 1, 0));
    check_refused(cyc_flow_passes(&rig, &by_turns, 0, 0));
    check_refused(cyc_flow_passes(&rig, &by_turns, SAMPLES + 1, 0));
}

static void full_buffer(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_flow flow = {.initial = 1, .delta = 0, .groups = 1, .tests = SAMPLES};
    samples[SAMPLES].value = -77;
    CHECK_INT(cyc_flow_accumulated(&rig, &by_turns, &flow, 0), 0);
    CHECK_INT(occurrences(out.bytes, "\"values\":[11,11,11,11]"), 1);
    CHECK_INT(samples[SAMPLES].value, -77); // the one behind the buffer is not ours
}

static void count_all(void *host, int64_t *counts)
{
    (void)host;
    for (int i = 0; i < CYC_COUNTERS_MAX; i++)
        counts[i] = i * counted;
}

static void all_counters(void)
{
    static const char *names[CYC_COUNTERS_MAX + 1];
    const struct cyc_flow flow = {.initial = 1, .delta = 0, .groups = 1, .tests = 1};
    struct cyc_rig rig = fresh_rig();
    char last[32];
    snprintf(last, sizeof last, "\"n\":[%d]}", CYC_COUNTERS_MAX - 1);
    for (int i = 0; i < CYC_COUNTERS_MAX; i++)
        names[i] = "n";
    rig.counters = names;
    rig.count = count_all;
    CHECK_INT(cyc_flow_accumulated(&rig, &by_turns, &flow, 0), 0);
    CHECK_INT(occurrences(out.bytes, "\"n\":["), CYC_COUNTERS_MAX);
    CHECK_INT(occurrences(out.bytes, last), 1);
}

static void empty_circle(void)
{
    struct cyc_rig rig = fresh_rig();
    const struct cyc_circle empty = {&contract, cyc_empty_turns, NULL, NULL};
    const struct cyc_flow flow = {.initial = 1000, .delta = 0, .groups = 1, .tests = 2};
    CHECK_INT(cyc_flow_accumulated(&rig, &empty, &flow, 0), 0);
    CHECK_INT(occurrences(out.bytes, "\"values\":[1,1]"), 1);
    CHECK_INT(occurrences(out.bytes, "\"twice\":[0,0]"), 1);
}

const struct test flow_tests[] = {
    {"order of calls", order_of_calls},
    {"a counter of the core is read round each test",
     a_counter_of_the_core_is_read_round_each_test},
    {"a chain is timed before and after each test", a_chain_is_timed_before_and_after_each_test},
    {"independent instructions lie nearest to the test",
     independent_instructions_lie_nearest_to_the_test},
    {"test sizes, values and counters", sizes_values_and_counters},
    {"time since the origin", time_since_origin},
    {"a clock that wraps", clock_that_wraps},
    {"a proof says so", proof_says_so},
    {"passes of a test are summed", passes_are_summed},
    {"direct method", direct_method},
    {"direct method of a pass", direct_method_of_a_pass},
    {"passes from cold to hot", passes_from_cold_to_hot},
    {"flows that do not fit are refused", refusals},
    {"a flow that just fits", full_buffer},
    {"as many counters as there may be", all_counters},
    {"the empty circle", empty_circle},
    {0},
};
