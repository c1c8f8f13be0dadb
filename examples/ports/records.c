// SPDX-License-Identifier: BSD-2-Clause
//
// Several circles, and a console that says by itself what its clock counted; thirty_lines.c does
// with a third. What each part is for:
//   put, put_record          the checksum, by which a reader knows a line that a message has cut
//   put_number, put_formatted  stand in for printf: most small kernels have none
//   unit_of_cycle            one image for an emulator, which counts instructions, and for a core
//   timed                    the two hints, by which a test can be traced and explained
//   record_circle            three sizes of test, which tell a turn from the fixed cost, and four
//                            tests of each, which show whether a count repeats
//   record_end               a boot without it was cut
#include "records.h"

#include <stdarg.h>

#define MORE_TURNS 8 // the tests of a group have so many more than those of the group before
#define GROUPS 3
#define TESTS 4
#define HINT(mark) __asm__ volatile("slti x0, x0, " #mark)
#define READ(counter, value) __asm__ volatile("rd" counter " %0" : "=r"(value)::"memory")

static uint64_t records, values;
static uint32_t crc; // ISO 3309, of the JSON object alone

static void put(char byte)
{
    record_put(byte);
    crc ^= (uint8_t)byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
}

static void put_number(uint64_t number)
{
    if (number > 9)
        put_number(number / 10);
    put((char)('0' + number % 10));
}

// In a format %s is a text, and %u a uint64_t.
static void put_formatted(const char *format, va_list *arguments)
{
    for (; *format != '\0'; format++) {
        if (*format != '%')
            put(*format);
        else if (*++format == 'u')
            put_number(va_arg(*arguments, uint64_t));
        else
            for (const char *text = va_arg(*arguments, const char *); *text != '\0'; text++)
                put(*text);
    }
}

static void put_record(const char *object, ...)
{
    va_list arguments;
    va_start(arguments, object);
    for (const char *mark = "@cyc "; *mark != '\0'; mark++)
        record_put(*mark);
    crc = ~0u;
    put_formatted(object, &arguments);
    record_put(' ');
    record_put('*');
    for (int shift = 28; shift >= 0; shift -= 4)
        record_put("0123456789abcdef"[~crc >> shift & 15]);
    record_put('\n');
    records++;
    va_end(arguments);
}

// Under an emulator that counts instructions, `cycle` does so too; divisions tell it from a core.
static const char *unit_of_cycle(void)
{
    uint64_t cycle[2], instret[2], number = ~0ull;
    READ("cycle", cycle[0]);
    READ("instret", instret[0]);
    for (int i = 0; i < 8; i++)
        __asm__ volatile("divu %0, %0, %1" : "+r"(number) : "r"(3ull));
    READ("cycle", cycle[1]);
    READ("instret", instret[1]);
    return cycle[1] - cycle[0] == instret[1] - instret[0] ? "instructions" : "cycles";
}

void record_hello(const char *target, const char *kernel)
{
    put_record("{\"kind\":\"hello\",\"seq\":%u,\"schema\":1,\"target\":\"%s\",\"kernel\":\"%s\","
               "\"clock\":{\"name\":\"cycle\",\"unit\":\"%s\",\"hz\":0,\"exact\":true}}",
               records, target, kernel, unit_of_cycle()); // exact: false on a board
}

static uint64_t timed(void (*run)(void *arg, uint64_t turns), void *arg, uint64_t turns)
{
    uint64_t from, to;
    HINT(0x7c1); // where `run --trace` and `explain` look
    READ("cycle", from);
    run(arg, turns);
    READ("cycle", to);
    HINT(0x7c2);
    return to - from;
}

void record_circle(const char *key, const char *title, void (*run)(void *arg, uint64_t turns),
                   void *arg)
{
    put_record("{\"kind\":\"circle\",\"seq\":%u,\"contract\":{\"key\":\"%s\",\"title\":\"%s\"},"
               "\"method\":\"accumulated\",\"flow\":{\"initial\":%u,\"delta\":%u,\"groups\":%u,"
               "\"tests\":%u}}",
               records, key, title, (uint64_t)MORE_TURNS, (uint64_t)MORE_TURNS, (uint64_t)GROUPS,
               (uint64_t)TESTS);
    for (uint64_t group = 0; group < GROUPS; group++) {
        uint64_t turns = (group + 1) * MORE_TURNS, took[TESTS];
        for (int test = 0; test < TESTS; test++)
            took[test] = timed(run, arg, turns);
        put_record("{\"kind\":\"group\",\"seq\":%u,\"circle\":\"%s\",\"method\":\"accumulated\","
                   "\"visit\":0,\"group\":%u,\"turns\":%u,\"values\":[%u,%u,%u,%u],"
                   "\"at\":[0,0,0,0]}",
                   records, key, group, turns, took[0], took[1], took[2], took[3]);
        values += TESTS;
    }
}

void record_end(void)
{
    put_record("{\"kind\":\"end\",\"seq\":%u,\"records\":%u,\"values\":%u}", records, records,
               values);
}
