// SPDX-License-Identifier: BSD-2-Clause
//
// What must stop the machine with a word of explanation. Each takes a boot of its own:
// `only=<name>`.
#include "memlayout.h"
#include "test.h"

static uint64_t descend(uint64_t depth)
{
    volatile uint64_t room[32];
    room[depth % 32] = depth;
    return depth < 100000 ? descend(depth + 1) + room[depth % 32] : depth;
}

static void overflow_the_stack(void)
{
    print("%u\n", descend(0));
}

static void write_to_code(void)
{
    *(volatile uint32_t *)(uint64_t)overflow_the_stack = 0;
}

static void write_to_constants(void)
{
    *(volatile char *)(uint64_t)"constant" = 'C';
}

static void execute_data(void)
{
    static uint32_t code[] = {0x00008067}; // ret
    ((void (*)(void))(uint64_t)code)();
}

static void read_the_monitor(void)
{
    print("%u\n", *(volatile uint64_t *)RAM_BASE);
}

#if CONFIG_USERSPACE
static void read_user_memory(void)
{
    test_shared()[0] = 1;
    test_program(PROGRAM_count_calls, RUNNER_PRIORITY + 1, NULL); // leaves its space loaded
    print("%u\n", *(volatile uint64_t *)USER_SHARED);
}
#endif

#if CONFIG_CANARIES
// This file alone of the tests is compiled with canaries.
static void overrun_a_buffer(void)
{
    char buffer[16];
    volatile char *at = buffer;
    for (uint64_t i = 0; i < 40; i++)
        at[i] = 0;
}
#endif

const struct test fatal_tests[] = {
    {"overflow_the_stack", overflow_the_stack},
    {"write_to_code", write_to_code},
    {"write_to_constants", write_to_constants},
    {"execute_data", execute_data},
    {"read_the_monitor", read_the_monitor},
#if CONFIG_USERSPACE
    {"read_user_memory", read_user_memory},
#endif
#if CONFIG_CANARIES
    {"overrun_a_buffer", overrun_a_buffer},
#endif
    END_OF_TESTS,
};
