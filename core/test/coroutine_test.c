// SPDX-License-Identifier: BSD-2-Clause
//
// Coroutines: which runs when, as a trace of letters.
#include <cyc/coroutine.h>

#include "test.h"

#define STACK_BYTES 65536 // the sanitizers need room
#define COROUTINES 4

static struct cyc_coroutines set;
static struct cyc_coroutine coroutines[COROUTINES];
static _Alignas(16) uint8_t stacks[COROUTINES][STACK_BYTES];
static struct cyc_coroutine_semaphore semaphore;
static struct text trace;

static void note(char letter)
{
    text_add(&trace, &letter, 1);
}

static void start(void)
{
    text_clear(&trace);
    cyc_coroutines_init(&set);
    semaphore = (struct cyc_coroutine_semaphore){0};
}

static void spawn(int number, void (*body)(void *arg), const char *name)
{
    void *arg = (void *)(uintptr_t)name;
    CHECK_INT(
        cyc_coroutine_spawn(&set, &coroutines[number], stacks[number], STACK_BYTES, body, arg), 0);
}

static void yield_twice(void *arg)
{
    const char *name = arg;
    for (int i = 0; i < 2; i++) {
        note(*name);
        cyc_coroutine_yield(&set);
    }
    note(*name);
}

static void first_come_first_served(void)
{
    start();
    spawn(0, yield_twice, "a");
    spawn(1, yield_twice, "b");
    CHECK_TEXT(trace.bytes, ""); // spawning does not switch
    for (int i = 0; i < 3; i++) {
        note('.');
        cyc_coroutine_yield(&set);
    }
    CHECK_TEXT(trace.bytes, ".ab.ab.ab");
    CHECK(coroutines[0].finished && coroutines[1].finished);
}

static void root_alone(void)
{
    start();
    cyc_coroutine_yield(&set);
    cyc_coroutine_yield(&set);
    CHECK(set.running == &set.root);
}

static void wait_and_note(void *arg)
{
    const char *name = arg;
    for (;;) {
        CHECK_INT(cyc_coroutine_wait(&set, &semaphore), 0);
        note(*name);
    }
}

static void direct_hand_off(void)
{
    start();
    spawn(0, wait_and_note, "a");
    spawn(1, wait_and_note, "b");
    spawn(2, yield_twice, "y");
    cyc_coroutine_yield(&set); // a and b wait, y is ready behind the root
    CHECK_TEXT(trace.bytes, "y");
    note('(');
    cyc_coroutine_signal(&set, &semaphore); // to a at once although y is first in the queue
    note(')');
    CHECK_TEXT(trace.bytes, "y(ay)");
    cyc_coroutine_signal(&set, &semaphore); // b has waited longest
    CHECK_TEXT(trace.bytes, "y(ay)by");
    cyc_coroutine_signal(&set, &semaphore);
    CHECK_TEXT(trace.bytes, "y(ay)bya");
}

static void binary_semaphore(void)
{
    start();
    CHECK_INT(cyc_coroutine_wait(&set, &semaphore), -1); // the root would have to wait
    cyc_coroutine_signal(&set, &semaphore);
    cyc_coroutine_signal(&set, &semaphore);
    CHECK_INT(cyc_coroutine_wait(&set, &semaphore), 0);
    CHECK_INT(cyc_coroutine_wait(&set, &semaphore), -1); // two gives count once
    cyc_coroutine_signal(&set, &semaphore);
    spawn(0, wait_and_note, "a");
    cyc_coroutine_yield(&set);
    CHECK_TEXT(trace.bytes, "a"); // took what was given without waiting, then waits
    CHECK_INT(semaphore.given, 0);
}

static void signal_and_note(void *arg)
{
    (void)arg;
    note('s');
    cyc_coroutine_signal(&set, &semaphore);
    note('t');
}

static void signal_from_a_coroutine(void)
{
    start();
    spawn(0, wait_and_note, "a");
    cyc_coroutine_yield(&set);
    spawn(1, signal_and_note, "");
    cyc_coroutine_yield(&set); // s hands over to a and queues behind the root
    CHECK_TEXT(trace.bytes, "sa");
    cyc_coroutine_yield(&set);
    CHECK_TEXT(trace.bytes, "sat");
}

static void wait_for_channel(void *arg)
{
    unsigned channel = *(const unsigned *)arg;
    for (;;) {
        CHECK_INT(cyc_coroutine_wait_channel(&set, channel), 0);
        note((char)('0' + channel));
    }
}

static void notify_from_coroutine(void *arg)
{
    (void)arg;
    CHECK_INT(cyc_coroutine_notified(&set, 3), -1);
    note('n');
}

static void channels(void)
{
    static const unsigned three = 3, last = CYC_CHANNELS - 1;
    start();
    CHECK_INT(cyc_coroutine_notified(&set, 3), 0); // nobody waits yet: it is kept
    spawn(0, wait_for_channel, (const char *)&three);
    spawn(1, wait_for_channel, (const char *)&last);
    cyc_coroutine_yield(&set);
    CHECK_TEXT(trace.bytes, "3");
    CHECK_INT(cyc_coroutine_notified(&set, last), 0);
    CHECK_INT(cyc_coroutine_notified(&set, 3), 0);
    CHECK_TEXT(trace.bytes, "3o3"); // '0' + 63
    CHECK_INT(cyc_coroutine_notified(&set, CYC_CHANNELS), -1);
    CHECK_INT(cyc_coroutine_wait_channel(&set, 3), -1); // the root may not
    spawn(2, notify_from_coroutine, "");
    cyc_coroutine_yield(&set);
    CHECK_TEXT(trace.bytes, "3o3n");
}

static void wait_for_bad_channel(void *arg)
{
    (void)arg;
    CHECK_INT(cyc_coroutine_wait_channel(&set, CYC_CHANNELS), -1);
    note('x');
}

static void channel_out_of_range(void)
{
    start();
    spawn(0, wait_for_bad_channel, "");
    cyc_coroutine_yield(&set);
    CHECK_TEXT(trace.bytes, "x");
}

static void used_again(void)
{
    start();
    for (int life = 0; life < 3; life++) {
        spawn(0, yield_twice, "a");
        while (!coroutines[0].finished)
            cyc_coroutine_yield(&set);
    }
    CHECK_TEXT(trace.bytes, "aaaaaaaaa");
}

static void stack_sizes(void)
{
    start();
    CHECK_INT(cyc_coroutine_spawn(&set, &coroutines[0], stacks[0], CYC_STACK_BYTES_MIN, yield_twice,
                                  NULL),
              0);
    start();
    CHECK_INT(cyc_coroutine_spawn(&set, &coroutines[0], stacks[0], CYC_STACK_BYTES_MIN - 1,
                                  yield_twice, NULL),
              -1);
    cyc_coroutine_yield(&set);
    CHECK(set.running == &set.root);
}

// As many values alive over a switch as there are registers to lose, and a stack that starts
// anywhere.
static int64_t mix(int64_t seed)
{
    int64_t v[16];
    double d[8];
    for (int i = 0; i < 16; i++)
        v[i] = seed * (i + 3);
    for (int i = 0; i < 8; i++)
        d[i] = (double)seed / (i + 1);
    cyc_coroutine_yield(&set);
    int64_t sum = 0;
    for (int i = 0; i < 16; i++)
        sum += v[i] ^ i;
    for (int i = 0; i < 8; i++)
        sum += (int64_t)(d[i] * 840);
    return sum;
}

static int64_t sums[COROUTINES];

static void mix_often(void *arg)
{
    int64_t *sum = arg;
    for (int64_t i = 1; i <= 1000; i++)
        *sum += mix(i);
}

static void registers_survive(void)
{
    start();
    for (int i = 0; i < COROUTINES; i++) {
        sums[i] = 0;
        CHECK_INT(cyc_coroutine_spawn(&set, &coroutines[i], stacks[i] + i, STACK_BYTES - 16,
                                      mix_often, &sums[i]),
                  0);
    }
    for (int i = 0; i < 1001; i++)
        cyc_coroutine_yield(&set);
    int64_t alone = 0;
    for (int64_t i = 1; i <= 1000; i++)
        alone += mix(i);
    for (int i = 0; i < COROUTINES; i++)
        CHECK_INT(sums[i], alone);
}

static void *root_place, *other_place;

static void switch_back_twice(void *arg)
{
    CHECK(((uintptr_t)__builtin_frame_address(0) & 15) == 0); // as after any call
    note(*(const char *)arg);
    cyc_coroutine_switch(&other_place, root_place);
    note('2');
    cyc_coroutine_switch(&other_place, root_place);
}

static void bare_switch(void)
{
    text_clear(&trace);
    other_place = cyc_coroutine_place(stacks[0] + 5, STACK_BYTES - 8, switch_back_twice,
                                      (void *)(uintptr_t)"1");
    cyc_coroutine_switch(&root_place, other_place);
    note('.');
    cyc_coroutine_switch(&root_place, other_place);
    CHECK_TEXT(trace.bytes, "1.2");
}

const struct test coroutine_tests[] = {
    {"first come, first served", first_come_first_served},
    {"a root alone", root_alone},
    {"direct hand-off to the longest waiter", direct_hand_off},
    {"a semaphore is binary", binary_semaphore},
    {"signal from a coroutine", signal_from_a_coroutine},
    {"channels", channels},
    {"a channel out of range", channel_out_of_range},
    {"a finished coroutine's memory is used again", used_again},
    {"the least stack, and one too small", stack_sizes},
    {"registers survive switches", registers_survive},
    {"bare switch", bare_switch},
    {0},
};
