// SPDX-License-Identifier: BSD-2-Clause
//
// A suite on a scripted machine: which records it writes in which order, and when it sets circles
// up.
#include "test.h"

#include <stdio.h>

#include <cyc/suite.h>

#define SAMPLES 8

static struct text calls, out;
static uint64_t now;
static struct cyc_writer writer;
static struct cyc_sample samples[SAMPLES];

static uint64_t read_clock(void)
{
    return now++;
}

static const char *setup(void *arg)
{
    text_add(&calls, "s", 1);
    text_add(&calls, arg, 1);
    return NULL;
}

static const char *refuse(void *arg)
{
    (void)arg;
    text_add(&calls, "r", 1);
    return "this machine has no such object";
}

static void teardown(void *arg)
{
    text_add(&calls, "d", 1);
    text_add(&calls, arg, 1);
}

static void turns(void *arg, uint64_t number)
{
    now += 10 * number;
    text_add(&calls, arg, 1);
}

static int64_t pass(void *arg)
{
    text_add(&calls, arg, 1);
    return 7;
}

#define CONTRACT(key_)                      \
    {.key = key_,                           \
     .title = "t",                          \
     .sequence = CYC_SEQUENCE("client: x"), \
     .interval = "round_trip",              \
     .from = "f",                           \
     .to = "t",                             \
     .correction = "none"}

static const struct cyc_suite_circle circles[] = {
    {.contract = CONTRACT("a.turns"),
     .turns = turns,
     .arg = "A",
     .setup = setup,
     .teardown = teardown},
    {.contract = CONTRACT("b.refused"),
     .turns = turns,
     .arg = "B",
     .setup = refuse,
     .teardown = teardown},
    {.contract = CONTRACT("c.pass"), .pass = pass, .arg = "C"},
    {.contract = {.key = NULL}},
};

static int run(const char *text)
{
    static const struct cyc_hello hello = {.target = "script", .kernel = "1"};
    struct cyc_arguments arguments;
    text_clear(&calls);
    writer = writer_to(&out);
    now = 100;
    struct cyc_rig rig = {
        .clock = {.name = "script", .unit = "ticks", .begin = read_clock, .end = read_clock},
        .writer = &writer,
        .samples = samples,
        .samples_max = SAMPLES,
    };
    CHECK(cyc_arguments_read(&arguments, text, NULL) == NULL);
    return cyc_suite_run(&rig, &hello, circles, &arguments);
}

// The kinds of the lines of `out`, by their first letters.
static const char *kinds(void)
{
    static const char start[] = "@cyc {\"kind\":\"";
    static char letters[64];
    size_t count = 0;
    for (const char *line = out.bytes; (line = strstr(line, start)) != NULL; line++)
        letters[count++] = line[strlen(start)];
    letters[count] = '\0';
    return letters;
}

static void whole_run(void)
{
    CHECK_INT(run("initial=2 delta=1 groups=2 tests=3 passes=4 run=9"), 0);
    // hello, circle and two groups, skipped, circle with overhead and passes, end
    CHECK_TEXT(kinds(), "hcggscope");
    CHECK_INT(occurrences(out.bytes, "\"run\":9"), 1);
    CHECK_INT(occurrences(out.bytes, "this machine has no such object"), 1);
    CHECK_INT(occurrences(out.bytes, "\"method\":\"direct\""), 3);
    CHECK_INT(occurrences(out.bytes, "\"counters\":{}"), 4);
    CHECK_INT(occurrences(out.bytes, "\"expect\":{}"), 2);
    // Set up, a call to settle and three tests per group, torn down. A refused circle is not torn
    // down. Three passes to settle, and four.
    CHECK_TEXT(calls.bytes, "sAAAAAAAAAdArCCCCCCC");
}

static void methods(void)
{
    run("only=a.* method=direct passes=2");
    CHECK_TEXT(kinds(), "hcope");
    CHECK_INT(occurrences(out.bytes, "\"method\":\"direct\""), 3);
    run("only=a.*,c.* method=passes passes=2");
    CHECK_TEXT(kinds(), "hcopcope");
    CHECK_INT(occurrences(out.bytes, "\"method\":\"passes\""), 6);
}

static void listing(void)
{
    CHECK_INT(run("list=1 only=a.*,b.*"), 0);
    CHECK_TEXT(kinds(), "hcce");
    CHECK_TEXT(calls.bytes, "");
}

static void flow_that_does_not_fit(void)
{
    CHECK_INT(run("only=a.* tests=9"), 1);
    CHECK_TEXT(kinds(), "hfe");
    CHECK_TEXT(calls.bytes, "sAdA");
}

static void nothing_selected(void)
{
    CHECK_INT(run("only=z"), 0);
    CHECK_TEXT(kinds(), "he");
}

static void clocks_of_this_machine(void)
{
    const struct cyc_clock *native = cyc_clock_find("");
    CHECK(native == &cyc_clocks[0]);
    CHECK(cyc_clock_find("sundial") == NULL);
    CHECK(native != NULL && cyc_clock_find(native->name) == native);
    if (native != NULL) {
        uint64_t begin = native->begin();
        CHECK((int64_t)(native->end() - begin) > 0);
    }
}

const struct test suite_tests[] = {
    {"whole run", whole_run},
    {"methods", methods},
    {"listing", listing},
    {"flow that does not fit", flow_that_does_not_fit},
    {"nothing selected", nothing_selected},
    {"clocks of this machine", clocks_of_this_machine},
    {0},
};
