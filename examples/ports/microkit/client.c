// SPDX-License-Identifier: BSD-2-Clause
//
// A protection domain of the seL4 Microkit that measures: protected calls, and notifications to a
// server and back. In Microkit only the event loop can wait for a notification, so the suite runs
// in a coroutine; notified() resumes it.
#include <microkit.h>

#include <cyc/coroutine.h>
#include <cyc/suite.h>

#define SERVER 0 // channel, as the .system file numbers it
#define TESTS_MAX 64
#define STACK_BYTES 16384

#ifndef CYC_ARGUMENTS // a protection domain has no command line: -DCYC_ARGUMENTS='"clock=pmccntr"'
#define CYC_ARGUMENTS ""
#endif

static void put(void *context, const char *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length; i++)
        microkit_dbg_putc(bytes[i]);
}

static struct cyc_coroutines set;
static struct cyc_coroutine worker;
static uint8_t stack[STACK_BYTES] __attribute__((aligned(16)));

static void call_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        microkit_ppcall(SERVER, microkit_msginfo_new(0, 0));
}

static void notify_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        microkit_notify(SERVER);
        cyc_coroutine_wait_channel(&set, SERVER);
    }
}

static const struct cyc_suite_circle circles[] = {
    {
        .contract = {.key = "microkit.ppcall",
                     .title = "Protected procedure call and return",
                     .sequence = CYC_SEQUENCE("client: microkit_ppcall", "server: protected()",
                                              "client: returns from microkit_ppcall"),
                     .interval = "round_trip",
                     .from = "client: before the call",
                     .to = "client: after the call",
                     .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
                     .correction = "none",
                     .source = CYC_SOURCE},
        .turns = call_turns,
    },
    {
        .contract = {.key = "microkit.notify_coroutine_wait",
                     .title = "Notification round trip, awaited in a coroutine",
                     .sequence = CYC_SEQUENCE(
                         "client: microkit_notify", "server: preempts client, notified()",
                         "server: microkit_notify", "server: blocks in its event loop",
                         "client: worker waits, the event loop runs",
                         "client: notified() resumes the worker"),
                     .interval = "round_trip",
                     .from = "client: before microkit_notify",
                     .to = "client: worker resumed",
                     .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}),
                     .correction = "none",
                     .source = CYC_SOURCE},
        .turns = notify_turns,
    },
    {.contract = {.key = NULL}},
};

static const struct cyc_hello hello = {
    .target = "microkit",
    .kernel = "seL4",
    .build = CYC_PARAMS({"compiler", __VERSION__}),
};

static void run_suite(void *arg)
{
    static struct cyc_sample samples[TESTS_MAX];
    struct cyc_arguments arguments;
    struct cyc_writer writer = {.put = put};
    struct cyc_rig rig = {.writer = &writer, .samples = samples, .samples_max = TESTS_MAX};
    (void)arg;
    cyc_arguments_read(&arguments, CYC_ARGUMENTS, NULL);
    const struct cyc_clock *clock = cyc_clock_find(arguments.clock);
    if (clock == NULL) {
        microkit_dbg_puts("client: this machine has no clock of that name\n");
        return;
    }
    rig.clock = *clock;
    rig.clock.exact = (int)arguments.exact;
    cyc_suite_run(&rig, &hello, circles, &arguments);
}

void init(void)
{
    cyc_coroutines_init(&set);
    cyc_coroutine_spawn(&set, &worker, stack, sizeof stack, run_suite, NULL);
    cyc_coroutine_yield(&set); // returns when the suite waits, or has ended
}

void notified(microkit_channel channel)
{
    cyc_coroutine_notified(&set, channel);
}
