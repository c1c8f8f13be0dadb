// SPDX-License-Identifier: BSD-2-Clause
//
// A program that runs turns on request:
//   cc -O2 turns.c -o turns && cyclometer run --exec ./turns
// It says that it is ready. Then each line that it reads asks for a number of turns, which may be
// 0, and each line that it prints says that they are done.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/stat.h>

int main(void)
{
    unsigned long turns;
    struct stat file;
    puts("cyclometer ready");
    fflush(stdout);
    while (scanf("%lu", &turns) == 1) {
        for (; turns > 0; turns--)
            stat("/", &file);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
