// SPDX-License-Identifier: BSD-2-Clause
//
// Zephyr: the suite runs in the main thread, and its peers are threads.
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>
#include <zephyr/version.h>

#include <cyc/suite.h>

#define TESTS_MAX 64
#define STACK_BYTES 1024
#define CLIENT_PRIORITY 5 // a smaller number is more urgent

// printk() takes text only, so pieces of a line go out character by character.
static void put(void *context, const char *bytes, size_t length)
{
    ARG_UNUSED(context);
    for (size_t i = 0; i < length; i++)
        printk("%c", bytes[i]);
}

// Zephyr's own cycle counter, if the core knows no clock of this architecture.
static uint64_t read_cycles(void)
{
    return k_cycle_get_64();
}

static struct cyc_clock choose_clock(const struct cyc_arguments *arguments)
{
    const struct cyc_clock *known = cyc_clock_find(arguments->clock);
    struct cyc_clock clock = {
        .name = "k_cycle", .unit = "ticks", .begin = read_cycles, .end = read_cycles};
    if (known != NULL)
        clock = *known;
    else
        clock.hz = (uint64_t)sys_clock_hw_cycles_per_sec();
    clock.exact = (int)arguments->exact;
    return clock;
}

K_THREAD_STACK_DEFINE(peer_stack, STACK_BYTES);
static struct k_thread peer;
static struct k_sem request, reply;

static void start_peer(k_thread_entry_t body, int priority)
{
    k_sem_init(&request, 0, 1);
    k_sem_init(&reply, 0, 1);
    k_thread_create(&peer, peer_stack, K_THREAD_STACK_SIZEOF(peer_stack), body, NULL, NULL, NULL,
                    priority, 0, K_NO_WAIT);
}

static void end_peer(void *arg)
{
    ARG_UNUSED(arg);
    k_thread_abort(&peer);
}

static void yield_for_ever(void *a, void *b, void *c)
{
    ARG_UNUSED(a);
    ARG_UNUSED(b);
    ARG_UNUSED(c);
    for (;;)
        k_yield();
}

static const char *set_up_yield(void *arg)
{
    ARG_UNUSED(arg);
    start_peer(yield_for_ever, CLIENT_PRIORITY);
    return NULL;
}

static void yield_turns(void *arg, uint64_t turns)
{
    ARG_UNUSED(arg);
    for (; turns > 0; turns--)
        k_yield();
}

static void answer(void *a, void *b, void *c)
{
    ARG_UNUSED(a);
    ARG_UNUSED(b);
    ARG_UNUSED(c);
    for (;;) {
        k_sem_take(&request, K_FOREVER);
        k_sem_give(&reply);
    }
}

static const char *set_up_answer(void *arg)
{
    ARG_UNUSED(arg);
    start_peer(answer, CLIENT_PRIORITY - 1);
    return NULL;
}

static void round_trip_turns(void *arg, uint64_t turns)
{
    ARG_UNUSED(arg);
    for (; turns > 0; turns--) {
        k_sem_give(&request);
        k_sem_take(&reply, K_FOREVER);
    }
}

static const struct cyc_suite_circle circles[] = {
    {
        .contract = {.key = "thread.yield.equal",
                     .title = "k_yield to a thread of equal priority and back",
                     .sequence = CYC_SEQUENCE("client: k_yield", "peer: returns from k_yield",
                                              "peer: k_yield", "client: returns from k_yield"),
                     .interval = "round_trip",
                     .from = "client: before k_yield",
                     .to = "client: after k_yield",
                     .correction = "none",
                     .source = CYC_SOURCE},
        .turns = yield_turns,
        .setup = set_up_yield,
        .teardown = end_peer,
    },
    {
        .contract = {.key = "semaphore.round_trip.server_higher",
                     .title = "Semaphore given to a thread of higher priority, and one back",
                     .sequence = CYC_SEQUENCE(
                         "client: k_sem_give", "peer: preempts client, returns from k_sem_take",
                         "peer: k_sem_give", "peer: blocks in k_sem_take",
                         "client: returns from k_sem_give", "client: k_sem_take returns at once"),
                     .interval = "round_trip",
                     .from = "client: before k_sem_give",
                     .to = "client: after k_sem_take",
                     .correction = "none",
                     .source = CYC_SOURCE},
        .turns = round_trip_turns,
        .setup = set_up_answer,
        .teardown = end_peer,
    },
    {.contract = {.key = NULL}},
};

static const struct cyc_hello hello = {
    .target = "zephyr-" CONFIG_BOARD,
    .kernel = "Zephyr " KERNEL_VERSION_STRING,
    .build = CYC_PARAMS({"compiler", __VERSION__}),
};

int main(void)
{
    static struct cyc_sample samples[TESTS_MAX];
    struct cyc_arguments arguments;
    struct cyc_writer writer = {.put = put};
    struct cyc_rig rig = {.writer = &writer, .samples = samples, .samples_max = TESTS_MAX};
    cyc_arguments_read(&arguments, CONFIG_CYCLOMETER_ARGUMENTS, NULL);
    rig.clock = choose_clock(&arguments);
    k_thread_priority_set(k_current_get(), CLIENT_PRIORITY);
    return cyc_suite_run(&rig, &hello, circles, &arguments);
}
