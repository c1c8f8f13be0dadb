// SPDX-License-Identifier: BSD-2-Clause
//
// FreeRTOS on RISC-V: the suite runs in a task, and its peers are tasks.
#include <FreeRTOS.h>
#include <semphr.h>
#include <task.h>

#include <cyc/suite.h>

#include "../riscv/board.h"

#define TESTS_MAX 64
#define STACK_WORDS 512
#define CLIENT_PRIORITY 3

static void put(void *context, const char *bytes, size_t length)
{
    (void)context;
    board_print(bytes, length);
}

// Counters: the kernel's trace hook counts every switch (FreeRTOSConfig.h).
long long port_switches;
static const char *const counters[] = {"switches", NULL};

static void read_counters(void *host, int64_t *counts)
{
    (void)host;
    counts[0] = port_switches;
}

// One peer at a time, from static memory.
static StaticTask_t peer_memory;
static StackType_t peer_stack[STACK_WORDS];
static TaskHandle_t client, peer;

static void start_peer(TaskFunction_t body, UBaseType_t priority)
{
    peer = xTaskCreateStatic(body, "peer", STACK_WORDS, NULL, priority, peer_stack, &peer_memory);
}

static void end_peer(void *arg)
{
    (void)arg;
    vTaskDelete(peer);
}

static void yield_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        taskYIELD();
}

static const char *set_up_yield(void *arg)
{
    (void)arg;
    start_peer(yield_for_ever, CLIENT_PRIORITY);
    return NULL;
}

static void yield_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        taskYIELD();
}

static void answer_notifications(void *arg)
{
    (void)arg;
    for (;;) {
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
        xTaskNotifyGive(client);
    }
}

static const char *set_up_notification(void *arg)
{
    (void)arg;
    start_peer(answer_notifications, CLIENT_PRIORITY + 1);
    return NULL;
}

static void notification_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        xTaskNotifyGive(peer);
        ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    }
}

static StaticSemaphore_t semaphore_memory;
static SemaphoreHandle_t semaphore;

static void take_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        xSemaphoreTake(semaphore, portMAX_DELAY);
}

static const char *set_up_semaphore(void *arg)
{
    (void)arg;
    semaphore = xSemaphoreCreateBinaryStatic(&semaphore_memory);
    return NULL;
}

static const char *set_up_taker(void *arg)
{
    set_up_semaphore(arg);
    start_peer(take_for_ever, CLIENT_PRIORITY + 1);
    return NULL;
}

static void give_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        xSemaphoreGive(semaphore);
}

static void give_and_take_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        xSemaphoreGive(semaphore);
        xSemaphoreTake(semaphore, 0);
    }
}

#define CONTRACT_ENDS .interval = "round_trip", .correction = "none", .source = CYC_SOURCE

static const struct cyc_suite_circle circles[] = {
    {
        .contract = {.key = "thread.yield.equal",
                     .title = "taskYIELD to a task of equal priority and back",
                     .sequence = CYC_SEQUENCE("client: taskYIELD", "peer: returns from taskYIELD",
                                              "peer: taskYIELD", "client: returns from taskYIELD"),
                     .from = "client: before taskYIELD",
                     .to = "client: after taskYIELD",
                     .expect = CYC_EXPECT({"switches", 2}),
                     CONTRACT_ENDS},
        .turns = yield_turns,
        .setup = set_up_yield,
        .teardown = end_peer,
    },
    {
        .contract = {.key = "notification.round_trip.server_higher",
                     .title = "Task notification to a task of higher priority, and one back",
                     .sequence =
                         CYC_SEQUENCE("client: xTaskNotifyGive",
                                      "peer: preempts client, returns from ulTaskNotifyTake",
                                      "peer: xTaskNotifyGive", "peer: blocks in ulTaskNotifyTake",
                                      "client: returns from xTaskNotifyGive",
                                      "client: ulTaskNotifyTake returns at once"),
                     .from = "client: before xTaskNotifyGive",
                     .to = "client: after ulTaskNotifyTake",
                     .expect = CYC_EXPECT({"switches", 2}),
                     CONTRACT_ENDS},
        .turns = notification_turns,
        .setup = set_up_notification,
        .teardown = end_peer,
    },
    {
        .contract = {.key = "semaphore.give_take.immediate",
                     .title = "Binary semaphore given and taken, nobody waiting",
                     .sequence = CYC_SEQUENCE("client: xSemaphoreGive", "client: xSemaphoreTake"),
                     .from = "client: before xSemaphoreGive",
                     .to = "client: after xSemaphoreTake",
                     .expect = CYC_EXPECT({"switches", 0}),
                     CONTRACT_ENDS},
        .turns = give_and_take_turns,
        .setup = set_up_semaphore,
    },
    {
        .contract = {.key = "semaphore.give_take.blocking",
                     .title = "Binary semaphore given to a waiting task of higher priority",
                     .sequence = CYC_SEQUENCE("client: xSemaphoreGive",
                                              "peer: preempts client, returns from xSemaphoreTake",
                                              "peer: blocks in xSemaphoreTake",
                                              "client: returns from xSemaphoreGive"),
                     .from = "client: before xSemaphoreGive",
                     .to = "client: after xSemaphoreGive",
                     .expect = CYC_EXPECT({"switches", 2}),
                     CONTRACT_ENDS},
        .turns = give_turns,
        .setup = set_up_taker,
        .teardown = end_peer,
    },
    {.contract = {.key = NULL}},
};

static const struct cyc_hello hello = {
    .target = "freertos-virt",
    .kernel = "FreeRTOS " tskKERNEL_VERSION_NUMBER,
    .configuration = CYC_PARAMS({"preemption", "on"}, {"time_slicing", "off"}),
    .build = CYC_PARAMS({"compiler", __VERSION__}),
};

static void run_suite(void *devicetree)
{
    static struct cyc_sample samples[TESTS_MAX];
    struct cyc_arguments arguments;
    struct cyc_writer writer = {.put = put};
    struct cyc_rig rig = {
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

extern void freertos_risc_v_trap_handler(void);

int main(void *devicetree)
{
    static StaticTask_t memory;
    static StackType_t stack[2 * STACK_WORDS];
    __asm__ volatile("csrw mtvec, %0" ::"r"((uintptr_t)freertos_risc_v_trap_handler));
    client = xTaskCreateStatic(run_suite, "client", 2 * STACK_WORDS, devicetree, CLIENT_PRIORITY,
                               stack, &memory);
    vTaskStartScheduler();
    board_end(1); // the scheduler never returns
}
