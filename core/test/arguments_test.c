// SPDX-License-Identifier: BSD-2-Clause
//
// Boot arguments: their words, the patterns of keys, and the command line in a device tree.
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include <cyc/arguments.h>

static struct cyc_arguments read_well(const char *text)
{
    struct cyc_arguments arguments;
    CHECK(cyc_arguments_read(&arguments, text, NULL) == NULL);
    return arguments;
}

static void defaults(void)
{
    struct cyc_arguments a = read_well("");
    CHECK_INT(a.method, CYC_ACCUMULATED);
    CHECK_INT(a.flow.initial, 30);
    CHECK_INT(a.flow.delta, 1);
    CHECK_INT(a.flow.groups, 5);
    CHECK_INT(a.flow.tests, 30);
    CHECK_INT(a.passes, 30);
    CHECK_INT(a.run + a.list + a.exact, 0);
    CHECK_TEXT(a.clock, "");
    CHECK_TEXT(a.only, "*");
}

static void every_word(void)
{
    struct cyc_arguments a =
        read_well("  initial=1 delta=0  groups=2 tests=3 passes=4 run=5 list=1 "
                  "exact=1 method=passes clock=instret only=a.*,b ");
    CHECK_INT(a.flow.initial, 1);
    CHECK_INT(a.flow.delta, 0);
    CHECK_INT(a.flow.groups, 2);
    CHECK_INT(a.flow.tests, 3);
    CHECK_INT(a.passes, 4);
    CHECK_INT(a.run, 5);
    CHECK_INT(a.list, 1);
    CHECK_INT(a.exact, 1);
    CHECK_INT(a.method, CYC_PASSES);
    CHECK_TEXT(a.clock, "instret");
    CHECK_TEXT(a.only, "a.*,b");
    CHECK_INT(read_well("method=direct").method, CYC_DIRECT);
    CHECK_INT(read_well("run=1000000000").run, 1000000000);
}

// The first word that is not understood is returned, and all others are taken.
static void unknown_words(void)
{
    static const char *const bad[] = {"quiet",
                                      "initial=",
                                      "initial=x",
                                      "initial=1x",
                                      "initial=-1",
                                      "run=1000000001",
                                      "run=99999999999999999999",
                                      "method=fast",
                                      "method=",
                                      "clock=0123456789abcdef",
                                      "list",
                                      "=1",
                                      "runs=1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cyc_arguments a;
        char text[96];
        snprintf(text, sizeof text, "tests=7 %s passes=9 other", bad[i]);
        CHECK(cyc_arguments_read(&a, text, NULL) == text + strlen("tests=7 "));
        CHECK_INT(a.flow.tests, 7);
        CHECK_INT(a.passes, 9);
        CHECK_INT(a.flow.initial, 30);
        CHECK_INT(a.run, 0);
        CHECK_TEXT(a.clock, "");
    }
}

static void only_that_is_too_long(void)
{
    struct cyc_arguments a;
    char text[CYC_ONLY_BYTES + 8] = "only=";
    memset(text + 5, 'k', CYC_ONLY_BYTES - 1);
    CHECK(cyc_arguments_read(&a, text, NULL) == NULL);
    CHECK_INT((int64_t)strlen(a.only), CYC_ONLY_BYTES - 1);
    text[5 + CYC_ONLY_BYTES - 1] = 'k';
    CHECK(cyc_arguments_read(&a, text, NULL) == text);
    CHECK_TEXT(a.only, "*");
}

static void words_of_the_port(void)
{
    struct cyc_arguments a;
    uint32_t baud = 1, log = 2;
    const struct cyc_argument more[] = {{"baud", &baud}, {"log", &log}, {NULL, NULL}};
    CHECK(cyc_arguments_read(&a, "baud=115200 run=3", more) == NULL);
    CHECK_INT(baud, 115200);
    CHECK_INT(log, 2);
    CHECK_INT(a.run, 3);
}

static int selects(const char *only, const char *key)
{
    struct cyc_arguments a;
    CHECK(strlen(only) < sizeof a.only);
    strcpy(a.only, only);
    return cyc_arguments_select(&a, key);
}

static void patterns(void)
{
    CHECK(selects("*", "pipe.round_trip"));
    CHECK(selects("pipe.*", "pipe.round_trip"));
    CHECK(selects("x,pipe.round_trip", "pipe.round_trip"));
    CHECK(selects("*.same,*trip*", "pipe.round_trip.cross"));
    CHECK(selects("a*b*c", "a.b.b.c"));
    CHECK(selects("pipe*", "pipe"));
    CHECK(!selects("pipe", "pipe.round_trip"));
    CHECK(!selects("pipe.round_trip.same", "pipe.round_trip"));
    CHECK(!selects("*.same", "pipe.round_trip"));
    CHECK(!selects("x,y", "pipe"));
    CHECK(!selects("", "pipe"));
    CHECK(!selects("pi,pe", "pipe"));
}

// A device tree that is written token by token.
static struct blob {
    uint8_t bytes[512];
    uint32_t length, structure, strings;
} blob;

static void add_word(uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        blob.bytes[blob.length++] = (uint8_t)(value >> shift);
}

static void add_bytes(const char *bytes, size_t length)
{
    memcpy(blob.bytes + blob.length, bytes, length);
    blob.length = (blob.length + (uint32_t)length + 3) & ~3u;
}

static void add_node(const char *name)
{
    add_word(1);
    add_bytes(name, strlen(name) + 1);
}

static void add_property(const char *name, const char *value, size_t length)
{
    add_word(3);
    add_word((uint32_t)length);
    add_word(strcmp(name, "bootargs") == 0 ? (uint32_t)sizeof "compatible" : 0);
    add_bytes(value, length);
}

static void begin_tree(void)
{
    memset(&blob, 0, sizeof blob);
    blob.length = 40; // the header
    blob.structure = blob.length;
    add_node("");
}

static const void *end_tree(void)
{
    uint32_t total;
    add_word(2);
    add_word(9);
    blob.strings = blob.length;
    add_bytes("compatible\0bootargs", sizeof "compatible\0bootargs");
    total = blob.length;
    blob.length = 0;
    add_word(0xd00dfeed);
    add_word(total);
    add_word(blob.structure);
    add_word(blob.strings);
    blob.length = total;
    return blob.bytes;
}

static void typical_tree(void)
{
    begin_tree();
    add_property("bootargs", "not this", 9);
    add_node("chosen");
    add_node("bootargs"); // a node of chosen
    add_property("bootargs", "nor this", 9);
    add_word(2);
    add_word(4); // a nop
    add_property("compatible", "x", 2);
    add_property("bootargs", "only=a run=1", 13);
    add_word(2);
    end_tree();
}

static void command_line_of_a_tree(void)
{
    typical_tree();
    CHECK_TEXT(cyc_arguments_in_devicetree(blob.bytes), "only=a run=1");
}

static void trees_without_a_command_line(void)
{
    CHECK_TEXT(cyc_arguments_in_devicetree(NULL), "");
    CHECK_TEXT(cyc_arguments_in_devicetree("not a device tree."), "");
    begin_tree();
    add_node("soc");
    add_property("bootargs", "not this", 9);
    add_word(2);
    CHECK_TEXT(cyc_arguments_in_devicetree(end_tree()), "");
    begin_tree();
    add_node("chosen");
    add_property("bootargs", "no end", 6);
    add_word(2);
    CHECK_TEXT(cyc_arguments_in_devicetree(end_tree()), "");
}

// Whatever is in the blob, no byte behind its end is read; the sanitizer watches.
static void broken_trees(void)
{
    typical_tree();
    for (uint32_t total = 16; total < blob.length; total++) {
        uint8_t *cut = malloc(total);
        CHECK(cut != NULL);
        memcpy(cut, blob.bytes, total);
        cut[6] = (uint8_t)(total >> 8);
        cut[7] = (uint8_t)total;
        (void)cyc_arguments_in_devicetree(cut);
        free(cut);
    }
    for (uint32_t at = 0; at < blob.length; at++)
        for (int flip = 1; flip < 256; flip += 62) {
            uint8_t *bent = malloc(blob.length);
            memcpy(bent, blob.bytes, blob.length);
            bent[at] ^= (uint8_t)flip;
            uint32_t total = (uint32_t)bent[4] << 24 | (uint32_t)bent[5] << 16 |
                             (uint32_t)bent[6] << 8 | bent[7];
            if (total <= blob.length) // a larger total is a promise that we cannot keep
                (void)cyc_arguments_in_devicetree(bent);
            free(bent);
        }
}

const struct test arguments_tests[] = {
    {"defaults", defaults},
    {"every word", every_word},
    {"words that are not understood", unknown_words},
    {"patterns that are too long", only_that_is_too_long},
    {"words of the port", words_of_the_port},
    {"patterns of keys", patterns},
    {"command line of a device tree", command_line_of_a_tree},
    {"device trees without a command line", trees_without_a_command_line},
    {"broken device trees", broken_trees},
    {0},
};
