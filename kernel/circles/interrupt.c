// SPDX-License-Identifier: BSD-2-Clause
//
// The way out of an interrupt, by Zephyr's keys: a kernel thread raises the software interrupt,
// which is taken at once, and the interval begins at the end of the handler. And the whole way of a
// timer interrupt.
#include "zephyr.h"

#ifndef USER_PROGRAM
#include "monitor.h"
#include "trap.h"
#endif

PART void take(struct props *p)
{
    semaphore_take(p->object, FOREVER);
}

static void taker(struct bench_shared *shared)
{
    stamp_after(shared, take);
}

#ifndef USER_PROGRAM
static void stamp(void *shared)
{
    ((struct bench_shared *)shared)->begin = machine_clock.begin();
}

static void give_and_stamp(void *shared)
{
    semaphore_give(bench_object(shared, 0));
    stamp(shared);
}

static int64_t interrupted_pass(void *arg)
{
    const struct bench_shared *shared = arg;
    software_interrupt_raise();
    return (int64_t)(machine_clock.end() - shared->begin);
}

static int64_t different_pass(void *arg)
{
    const struct bench_shared *shared = arg;
    software_interrupt_raise();
    return (int64_t)(shared->end - shared->begin);
}

static void timer_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        monitor_set_timer(0);
}

static void attach_stamp(struct bench_shared *shared)
{
    software_interrupt_attach(stamp, shared);
}

static void attach_give_and_stamp(struct bench_shared *shared)
{
    software_interrupt_attach(give_and_stamp, shared);
}

static void detach(struct bench_shared *shared)
{
    (void)shared;
    software_interrupt_attach(NULL, NULL);
}
#endif

const struct circle interrupt_circles[] = {
    {CONTRACT("isr.resume.interrupted.thread", "Return from an interrupt to the interrupted thread",
              SEQUENCE("kernel: interrupt of client"), "half", "handler: its last statement",
              "client: after raising the interrupt", NULL, "clock reading", "subtracted"),
     .sides = KERNEL_ALONE, .naming = BY_MODE, .client_priority = CLIENT_PRIORITY, .interrupts = 1,
     .setup = IN_KERNEL(attach_stamp), .teardown = IN_KERNEL(detach),
     .pass = IN_KERNEL(interrupted_pass)},
    {CONTRACT("isr.resume.different.thread",
              "Return from an interrupt to a more urgent thread that it woke",
              SEQUENCE("kernel: interrupt of client", "client: semaphore_give",
                       "kernel: switch to peer", "peer: semaphore_take",
                       "kernel: switch to client"),
              "one_way", "handler: its last statement, after semaphore_give",
              "peer: after semaphore_take", EXPECT({"wakeups", 1}), "clock reading", "subtracted"),
     .sides = K_TO_K | K_TO_U, .naming = BY_PEER, .objects = {{OBJECT_semaphore, 0, 1}},
     .client_priority = CLIENT_PRIORITY, .peer_priority = CLIENT_PRIORITY + 1, .peer_calls = 1,
     .switches = 2, .interrupts = 1, .setup = IN_KERNEL(attach_give_and_stamp),
     .teardown = IN_KERNEL(detach), .pass = IN_KERNEL(different_pass), .peer = taker},
    {CONTRACT("isr.timer.round_trip",
              "Timer interrupt: programmed to come at once, through the monitor, and back",
              SEQUENCE("kernel: interrupt of client"), "round_trip",
              "client: before setting the timer", "client: after setting the timer",
              EXPECT({"time_reads", 1 + CONFIG_MCS}, {"timer_sets", 1}), "none", "no such row"),
     .sides = KERNEL_ALONE, .naming = BY_MODE, .client_priority = CLIENT_PRIORITY, .interrupts = 1,
     .turns = IN_KERNEL(timer_turns)},
    END_OF_FAMILY,
};
