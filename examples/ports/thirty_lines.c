// SPDX-License-Identifier: BSD-2-Clause
//
// The least that a RISC-V kernel needs: thirty lines of C, braces aside, and a text. Call
// time_turns() once with a loop of so many turns. It times the loop between the hints that
// `explain` looks for and prints the text, in which ' stands for ", # for the next time and % for
// the checksum of the object before it; no object holds a blank. `cyclometer run` knows that an
// emulator's `cycle` counts instructions. For several circles, or a console that is kept and read
// elsewhere, take records.c.
#include <stdint.h>

#define KEY "signal.round_trip"
#define GROUP(seq, number, turns)                                                             \
    "@cyc {'kind':'group','seq':" seq ",'circle':'" KEY "','method':'accumulated','visit':0," \
    "'group':" number ",'turns':" turns ",'values':[#,#,#],'at':[0,0,0]} *%\n"
static const char records[] =
    "@cyc {'kind':'hello','seq':0,'schema':1,'target':'mine','kernel':'mine',"
    "'clock':{'name':'cycle','unit':'cycles','exact':true}} *%\n"
    "@cyc {'kind':'circle','seq':1,'contract':{'key':'" KEY "'},'method':'accumulated',"
    "'flow':{'initial':8,'delta':8,'groups':3,'tests':3}} *%\n"      //
    GROUP("2", "0", "8") GROUP("3", "1", "16") GROUP("4", "2", "24") //
    "@cyc {'kind':'end','seq':5,'records':5,'values':9} *%\n";

void record_put(char byte); // yours: prints a byte on the first serial line

static uint32_t crc; // ISO 3309

static void put(char byte)
{
    record_put(byte);
    crc ^= (uint8_t)byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
}

static void put_number(uint64_t number, uint64_t base, int digits)
{
    if (number >= base || digits > 1)
        put_number(number / base, base, digits - 1);
    put("0123456789abcdef"[number % base]);
}

void time_turns(void (*run)(void *arg, uint64_t turns), void *arg)
{
    uint64_t times[9], from, to, *time = times, checksum = 0;
    for (uint64_t test = 0; test < 9; test++) {
        __asm__ volatile("slti x0, x0, 0x7c1\n rdcycle %0" : "=r"(from)::"memory");
        run(arg, 8 * (test / 3 + 1));
        __asm__ volatile("rdcycle %0\n slti x0, x0, 0x7c2" : "=r"(to)::"memory");
        times[test] = to - from;
    }
    for (const char *text = records; *text != '\0'; text++) {
        if (*text == '#')
            put_number(*time++, 10, 1);
        else if (*text == '%')
            put_number(checksum, 16, 8);
        else
            put(*text == '\'' ? '"' : *text);
        if (*text == '}') // an object's last one comes last
            checksum = ~crc;
        if (*text == ' ')
            crc = ~0u;
    }
}
