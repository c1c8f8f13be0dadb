// SPDX-License-Identifier: BSD-2-Clause
//
// A port without a kernel: RISC-V in machine mode. It shows everything that a port consists of. The
// circles time what the hardware and the core offer: an empty loop, a trap and its return, and a
// switch between two stacks.
#include <cyc/coroutine.h>
#include <cyc/suite.h>

#include "board.h"

#define TESTS_MAX 64
#define STACK_BYTES 1024

// Output: the writer hands over pieces of lines in order.
static void put(void *context, const char *bytes, size_t length)
{
    (void)context;
    board_print(bytes, length);
}

static void empty_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        __asm__ volatile("");
}

// Counters: whatever this system can count. Here the traps that the handler below has taken.
static int64_t traps;
static const char *const counters[] = {"traps", NULL};

static void read_counters(void *host, int64_t *counts)
{
    (void)host;
    counts[0] = traps;
}

// The handler steps over the `ecall` that came here.
__attribute__((interrupt("machine"), aligned(4))) static void handle_trap(void)
{
    uint64_t pc;
    __asm__ volatile("csrr %0, mepc" : "=r"(pc));
    __asm__ volatile("csrw mepc, %0" ::"r"(pc + 4));
    traps++;
}

static const char *set_up_trap(void *arg)
{
    (void)arg;
    __asm__ volatile("csrw mtvec, %0" ::"r"((uintptr_t)handle_trap));
    return NULL;
}

static void trap_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        __asm__ volatile("ecall" ::: "memory");
}

static uint8_t stack[STACK_BYTES] __attribute__((aligned(16)));
static void *main_place, *other_place;

static void switch_back(void *arg)
{
    (void)arg;
    for (;;)
        cyc_coroutine_switch(&other_place, main_place);
}

static const char *set_up_switch(void *arg)
{
    (void)arg;
    other_place = cyc_coroutine_place(stack, sizeof stack, switch_back, NULL);
    return NULL;
}

static void switch_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        cyc_coroutine_switch(&main_place, other_place);
}

// The contract: what a turn is, and how often each counter must count it.
#define BEFORE_AND_AFTER(what)                                                         \
    .sequence = CYC_SEQUENCE("client: " what), .interval = "round_trip",               \
    .from = "client: before " what, .to = "client: after " what, .correction = "none", \
    .source = CYC_SOURCE

static const struct cyc_suite_circle circles[] = {
    {
        .contract = {.key = "floor.empty",
                     .title = "Empty loop",
                     BEFORE_AND_AFTER("nothing"),
                     .expect = CYC_EXPECT({"traps", 0})},
        .turns = empty_turns,
    },
    {
        .contract = {.key = "trap.ecall",
                     .title = "ecall in machine mode, handled, and mret",
                     BEFORE_AND_AFTER("ecall"),
                     .expect = CYC_EXPECT({"traps", 1})},
        .turns = trap_turns,
        .setup = set_up_trap,
    },
    {
        .contract = {.key = "coroutine.switch",
                     .title = "Switch to another stack and back",
                     BEFORE_AND_AFTER("switch"),
                     .expect = CYC_EXPECT({"traps", 0})},
        .turns = switch_turns,
        .setup = set_up_switch,
    },
    {.contract = {.key = NULL}},
};

static const struct cyc_hello hello = {
    .target = "riscv-bare",
    .kernel = "none",
    .build = CYC_PARAMS({"compiler", __VERSION__}),
};

int main(const void *devicetree)
{
    static struct cyc_sample samples[TESTS_MAX];
    struct cyc_arguments arguments;
    // Static: to fill so large a variable of the stack a compiler calls memset().
    static struct cyc_writer writer = {.put = put};
    static struct cyc_rig rig = {
        .counters = counters,
        .count = read_counters,
        .writer = &writer,
        .samples = samples,
        .samples_max = TESTS_MAX,
    };
    cyc_arguments_read(&arguments, cyc_arguments_in_devicetree(devicetree), NULL);
    const struct cyc_clock *clock = cyc_clock_find(arguments.clock);
    if (clock == NULL)
        board_end(1);
    rig.clock = *clock;
    rig.clock.exact = (int)arguments.exact;
    board_end(cyc_suite_run(&rig, &hello, circles, &arguments) != 0);
}
