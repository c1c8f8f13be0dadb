// SPDX-License-Identifier: BSD-2-Clause
//
// What the threads of a circle run, in kernel or user mode: the client hosts the measuring engine,
// the peer its loop.
#include <cyc/flow.h>

#include "board.h"
#include "kernel_circle.h"
#include "string.h"

#define LINE_BYTES 512

const struct cyc_clock machine_clock = {
    .name = BOARD_CLOCK_NAME,
    .unit = BOARD_CLOCK_UNIT,
    .hz = BOARD_CLOCK_HZ,
    .exact = 1,
    .begin = cyc_native_begin,
    .end = cyc_native_end,
};

static char line[LINE_BYTES];
static size_t line_length;

// Waiting for the UART is not part of the run's time line: the origin moves by what the writing
// took, so that a slow reader at the other end changes no record.
static void flush(struct bench_shared *shared)
{
    uint64_t begin = machine_clock.begin();
    console_write(line, line_length);
    line_length = 0;
    shared->origin += machine_clock.end() - begin;
}

// Lines go out whole, or in pieces of the buffer's size. In pieces that were copied at once:
// simulated time counts.
static void put(void *context, const char *bytes, size_t length)
{
    while (length > 0) {
        size_t room = sizeof line - line_length;
        size_t some = length < room ? length : room;
        memcpy(line + line_length, bytes, some);
        line_length += some;
        bytes += some;
        length -= some;
        if (line_length == sizeof line || line[line_length - 1] == '\n')
            flush(context);
    }
}

struct cyc_writer *bench_writer(struct bench_shared *shared)
{
    shared->writer.put = put;
    shared->writer.context = shared;
    return &shared->writer;
}

static void read_counters(void *host, int64_t *counts)
{
    (void)host;
    counters_read(counts);
}

static void one_turn(const struct cyc_circle *circle)
{
    if (circle->pass != NULL)
        (void)circle->pass(circle->arg);
    else
        circle->turns(circle->arg, 1);
}

// Two turns before the flow: the first brings the peer to where every later turn finds it, the
// second is logged.
static void warm_up(const struct cyc_circle *circle)
{
    one_turn(circle);
    eventlog_record(1);
    one_turn(circle);
    eventlog_record(0);
}

// A circle whose ends lie in different threads has no accumulated latency: its turns are timed one
// by one.
static int run_flow(struct cyc_rig *rig, const struct cyc_circle *circle,
                    const struct bench_shared *shared)
{
    if (shared->method == PASSES)
        return cyc_flow_passes(rig, circle, shared->passes, shared->visit);
    if (shared->method == DIRECT || circle->pass != NULL)
        return cyc_flow_direct(rig, circle, shared->passes, shared->visit);
    return cyc_flow_accumulated(rig, circle, &shared->flow, shared->visit);
}

void client_main(struct bench_shared *shared)
{
    static struct cyc_sample samples[BOARD_SAMPLES_MAX];
    const struct circle *c = circle_number(shared->circle);
    const struct cyc_circle circle = {variant_contract(c, &shared->variant), c->turns, c->pass,
                                      shared};
    struct cyc_rig rig = {.clock = machine_clock,
                          .counters = counter_names,
                          .count = read_counters,
                          .writer = bench_writer(shared),
                          .samples = samples,
                          .samples_max = BOARD_SAMPLES_MAX};
    if (c->prepare != NULL)
        c->prepare(shared);
    warm_up(&circle);
    rig.origin = shared->origin;
    if (run_flow(&rig, &circle, shared) != 0)
        cyc_record_failed(rig.writer, circle.contract->key,
                          "more tests or passes than the sample buffer holds");
}

void peer_main(struct bench_shared *shared)
{
    circle_number(shared->circle)->peer(shared);
}
