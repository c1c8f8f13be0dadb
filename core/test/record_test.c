// SPDX-License-Identifier: BSD-2-Clause
//
// The record writer, byte for byte.
#include "test.h"

#include <stdio.h>

static struct text out;

// CRC-32 a bit at a time, straight from its definition: shares nothing with core's.
static uint32_t reference_crc(const char *bytes, size_t length)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < length; i++) {
        crc ^= (uint8_t)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 1) ? (crc >> 1) ^ 0xedb88320 : crc >> 1;
    }
    return ~crc;
}

// Takes the frame off a single line and checks it; returns the JSON object.
static const char *object_of(struct text *line)
{
    static char object[sizeof line->bytes];
    size_t head = strlen("@cyc "), tail = strlen(" *00000000\n");
    char wanted[16];
    object[0] = '\0';
    CHECK(line->length > head + tail);
    if (line->length <= head + tail)
        return object;
    size_t length = line->length - head - tail;
    memcpy(object, line->bytes + head, length);
    object[length] = '\0';
    snprintf(wanted, sizeof wanted, " *%08x\n", (unsigned)reference_crc(object, length));
    CHECK(strncmp(line->bytes, "@cyc ", head) == 0);
    CHECK_TEXT(line->bytes + head + length, wanted);
    return object;
}

static void crc_vectors(void)
{
    CHECK(cyc_crc32(0, "", 0) == 0);
    CHECK(cyc_crc32(0, "a", 1) == 0xe8b7be43);
    CHECK(cyc_crc32(0, "123456789", 9) == 0xcbf43926);
    CHECK(cyc_crc32(cyc_crc32(0, "12345", 5), "6789", 4) == 0xcbf43926);
    CHECK(cyc_crc32(0, "\xff\x00\x80", 3) == reference_crc("\xff\x00\x80", 3));
}

static void frame(void)
{
    struct cyc_writer w = writer_to(&out);
    cyc_record_open(&w, "end");
    cyc_record_close(&w);
    CHECK_TEXT(object_of(&out), "{\"kind\":\"end\",\"seq\":0}");
}

static void sequence_numbers(void)
{
    struct cyc_writer w = writer_to(&out);
    for (int i = 0; i < 3; i++) {
        text_clear(&out);
        cyc_record_failed(&w, "a.b", "why");
    }
    CHECK_TEXT(object_of(&out),
               "{\"kind\":\"failed\",\"seq\":2,\"circle\":\"a.b\",\"reason\":\"why\"}");
    CHECK_INT((int64_t)w.records, 3);
}

static void escaping(void)
{
    struct cyc_writer w = writer_to(&out);
    cyc_record_open(&w, "x");
    cyc_record_text(
        &w, "a\"b",
        "quote \" backslash \\ line\nfeed tab\t null-like \x01 last \x1f space  del \x7f");
    cyc_record_text(&w, "empty", "");
    cyc_record_close(&w);
    CHECK_TEXT(object_of(&out),
               "{\"kind\":\"x\",\"seq\":0,\"a\\\"b\":\"quote \\\" backslash \\\\ line\\u000afeed "
               "tab\\u0009 null-like \\u0001 last \\u001f space  del \x7f\",\"empty\":\"\"}");
    CHECK_INT(occurrences(out.bytes, "\n"), 1);
}

static void integers_at_limits(void)
{
    struct cyc_writer w = writer_to(&out);
    cyc_record_open(&w, "x");
    cyc_record_int(&w, "zero", 0);
    cyc_record_int(&w, "minus", -1);
    cyc_record_int(&w, "ten", 10);
    cyc_record_int(&w, "most", INT64_MAX);
    cyc_record_int(&w, "least", INT64_MIN);
    cyc_record_close(&w);
    CHECK_TEXT(object_of(&out), "{\"kind\":\"x\",\"seq\":0,\"zero\":0,\"minus\":-1,\"ten\":10,"
                                "\"most\":9223372036854775807,\"least\":-9223372036854775808}");
}

static void nesting(void)
{
    struct cyc_writer w = writer_to(&out);
    cyc_record_open(&w, "x");
    cyc_record_object_open(&w, "empty");
    cyc_record_object_close(&w);
    cyc_record_object_open(&w, "outer");
    cyc_record_object_open(&w, "inner");
    cyc_record_int(&w, "a", 1);
    cyc_record_object_close(&w);
    cyc_record_int(&w, "b", 2);
    cyc_record_object_close(&w);
    cyc_record_int(&w, "c", 3);
    cyc_record_close(&w);
    CHECK_TEXT(
        object_of(&out),
        "{\"kind\":\"x\",\"seq\":0,\"empty\":{},\"outer\":{\"inner\":{\"a\":1},\"b\":2},\"c\":3}");
}

static void lists(void)
{
    struct cyc_writer w = writer_to(&out);
    const char *const none[] = {NULL}, *const two[] = {"a", "b\"", NULL};
    const struct {
        int64_t wanted, other;
    } pairs[] = {{1, 7}, {-2, 8}, {3, 9}};
    cyc_record_open(&w, "x");
    cyc_record_texts(&w, "none", none);
    cyc_record_texts(&w, "two", two);
    cyc_record_ints(&w, "no", &pairs[0].wanted, 0, sizeof *pairs);
    cyc_record_ints(&w, "strided", &pairs[0].wanted, 3, sizeof *pairs);
    cyc_record_close(&w);
    CHECK_TEXT(object_of(&out), "{\"kind\":\"x\",\"seq\":0,\"none\":[],\"two\":[\"a\",\"b\\\"\"],"
                                "\"no\":[],\"strided\":[1,-2,3]}");
}

static void clock_in_hello(void)
{
    struct cyc_writer w = writer_to(&out);
    struct cyc_clock clock = {.name = "tsc", .unit = "ticks", .hz = 2500000000, .exact = 0};
    cyc_record_open(&w, "hello");
    cyc_record_clock(&w, &clock);
    clock.exact = 1;
    cyc_record_clock(&w, &clock);
    cyc_record_close(&w);
    CHECK_TEXT(object_of(&out),
               "{\"kind\":\"hello\",\"seq\":0,"
               "\"clock\":{\"name\":\"tsc\",\"unit\":\"ticks\",\"hz\":2500000000,\"exact\":false},"
               "\"clock\":{\"name\":\"tsc\",\"unit\":\"ticks\",\"hz\":2500000000,\"exact\":true}}");
}

static void hello_of_a_port(void)
{
    struct cyc_writer w = writer_to(&out);
    const struct cyc_clock clock = {.name = "instret", .unit = "instructions", .exact = 1};
    const struct cyc_hello hello = {
        .target = "sel4-virt",
        .kernel = "seL4 13.0",
        .configuration = CYC_PARAMS({"mcs", "on"}, {"fpu", "off"}),
    };
    cyc_record_hello(&w, &clock, &hello, 3);
    CHECK_TEXT(object_of(&out),
               "{\"kind\":\"hello\",\"seq\":0,\"schema\":1,\"target\":\"sel4-virt\","
               "\"kernel\":\"seL4 13.0\",\"configuration\":{\"mcs\":\"on\",\"fpu\":\"off\"},"
               "\"clock\":{\"name\":\"instret\",\"unit\":\"instructions\",\"hz\":0,\"exact\":true},"
               "\"build\":{},\"run\":3}");
}

static void hello_of_runs_that_share_a_clock(void)
{
    struct cyc_writer w = writer_to(&out);
    const struct cyc_clock clock = {.name = "tsc", .unit = "ticks", .hz = 5};
    const struct cyc_hello hello = {.target = "t", .kernel = "k", .origin = 77};
    cyc_record_hello(&w, &clock, &hello, 1);
    CHECK_TEXT(object_of(&out),
               "{\"kind\":\"hello\",\"seq\":0,\"schema\":1,\"target\":\"t\",\"kernel\":\"k\","
               "\"configuration\":{},"
               "\"clock\":{\"name\":\"tsc\",\"unit\":\"ticks\",\"hz\":5,\"exact\":false},"
               "\"build\":{},\"run\":1,\"origin\":77}");
}

static void skipped_circle(void)
{
    struct cyc_writer w = writer_to(&out);
    cyc_record_skipped(&w, "a.b", "no such object");
    CHECK_TEXT(object_of(&out), "{\"kind\":\"skipped\",\"seq\":0,\"circle\":\"a.b\","
                                "\"reason\":\"no such object\"}");
}

static void whole_circle(void)
{
    struct cyc_writer w = writer_to(&out);
    const struct cyc_contract contract = {
        .key = "pipe.round_trip",
        .title = "Pipe",
        .sequence = (const char *const[]){"client: write", "server: read", NULL},
        .interval = "round_trip",
        .from = "before",
        .to = "after",
        .expect = (const struct cyc_expect[]){{"entries", 4}, {"switches", 2}, {0}},
        .params = (const struct cyc_param[]){{"bytes", "1"}, {0}},
        .correction = "none",
        .source = "linux/circles/channel.c:112",
    };
    const struct cyc_circle circle = {.contract = &contract};
    const struct cyc_flow flow = {.initial = 30, .delta = 1, .groups = 5, .tests = 7};
    cyc_record_circle(&w, &circle, "accumulated", &flow);
    CHECK_TEXT(object_of(&out),
               "{\"kind\":\"circle\",\"seq\":0,\"contract\":{\"key\":\"pipe.round_trip\",\"title\":"
               "\"Pipe\","
               "\"sequence\":[\"client: write\",\"server: read\"],"
               "\"interval\":{\"kind\":\"round_trip\",\"from\":\"before\",\"to\":\"after\"},"
               "\"expect\":{\"entries\":4,\"switches\":2},\"params\":{\"bytes\":\"1\"},"
               "\"correction\":\"none\",\"source\":\"linux/circles/channel.c:112\"},"
               "\"method\":\"accumulated\",\"flow\":{\"initial\":30,\"delta\":1,\"groups\":5,"
               "\"tests\":7}}");
}

static void circle_without_parameters_and_source(void)
{
    struct cyc_writer w = writer_to(&out);
    const struct cyc_contract contract = {
        .key = "k",
        .title = "t",
        .sequence = (const char *const[]){NULL},
        .interval = "half",
        .from = "f",
        .to = "t",
        .expect = (const struct cyc_expect[]){{0}},
        .correction = "none",
    };
    const struct cyc_circle circle = {.contract = &contract};
    const struct cyc_flow flow = {0};
    cyc_record_circle(&w, &circle, "proof", &flow);
    CHECK_INT(occurrences(object_of(&out), "\"sequence\":[],"), 1);
    CHECK_INT(occurrences(object_of(&out), "\"expect\":{},\"params\":{},\"correction\":\"none\"},"),
              1);
}

static void end_counts(void)
{
    struct cyc_writer w = writer_to(&out);
    cyc_record_failed(&w, "a", "b");
    w.values = 41;
    text_clear(&out);
    cyc_record_end(&w);
    CHECK_TEXT(object_of(&out), "{\"kind\":\"end\",\"seq\":1,\"records\":1,\"values\":41}");
}

const struct test record_tests[] = {
    {"CRC-32 of known texts", crc_vectors},
    {"frame and checksum of a line", frame},
    {"lines are numbered", sequence_numbers},
    {"texts are escaped", escaping},
    {"integers at their limits", integers_at_limits},
    {"objects nest", nesting},
    {"lists, empty and strided", lists},
    {"clock of a hello", clock_in_hello},
    {"hello of a port", hello_of_a_port},
    {"hello of runs that share a clock", hello_of_runs_that_share_a_clock},
    {"skipped circle", skipped_circle},
    {"whole circle record", whole_circle},
    {"circle without parameters and source", circle_without_parameters_and_source},
    {"end counts records and values", end_counts},
    {0},
};
