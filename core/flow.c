// SPDX-License-Identifier: BSD-2-Clause
#include <cyc/flow.h>

void cyc_empty_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        __asm__ volatile(""); // keeps the loop; adds no instruction
}

// A circle that reads the clock itself: the sum of its passes.
static int64_t sum_passes(const struct cyc_circle *circle, uint64_t turns)
{
    int64_t sum = 0;
    for (; turns > 0; turns--)
        sum += circle->pass(circle->arg);
    return sum;
}

#define SETTLE_TURNS 3

// Untimed turns before the first test of a group: while the host wrote records or opened counters,
// a peer may have moved on from the place where it waits between two tests.
static void settle(const struct cyc_circle *circle)
{
    if (circle->pass != NULL)
        sum_passes(circle, SETTLE_TURNS);
    else
        circle->turns(circle->arg, SETTLE_TURNS);
}

static int64_t time_of(const struct cyc_rig *rig, void (*stretch)(void))
{
    uint64_t begin = rig->clock.begin();
    stretch();
    return (int64_t)(rig->clock.end() - begin);
}

static void begin_readings(const struct cyc_rig *rig, struct cyc_sample *sample)
{
    if (rig->core == NULL && rig->chain != NULL)
        sample->speed[0] = time_of(rig, rig->chain);
    if (rig->independent != NULL)
        sample->issue[0] = time_of(rig, rig->independent);
    if (rig->core != NULL)
        sample->speed[0] = (int64_t)rig->core();
}

// The core's counter is read before the clock at both ends, so that both count equally long.
static void end_readings(const struct cyc_rig *rig, uint64_t begin, struct cyc_sample *sample)
{
    if (rig->core != NULL) {
        sample->speed[0] = (int64_t)rig->core() - sample->speed[0];
        sample->speed[1] = (int64_t)(rig->clock.end() - begin);
    }
    if (rig->independent != NULL)
        sample->issue[1] = time_of(rig, rig->independent);
    if (rig->core == NULL && rig->chain != NULL)
        sample->speed[1] = time_of(rig, rig->chain);
}

// The turns of a test; returns the reading at its begin. A circle with a `pass` times its turns one
// by one. Only the circle lies between the two readings, and the code around them is the same for
// all parameters of the flow (Korovkina 2022, section 2.2.2). Between the hints only the circle
// itself reads a clock.
static uint64_t time_turns(struct cyc_rig *rig, const struct cyc_circle *circle, uint64_t turns,
                           struct cyc_sample *sample)
{
    uint64_t begin;
    if (circle->pass != NULL) {
        // A pass reads the clock itself; this reading only dates the test.
        begin = rig->clock.begin();
        CYC_HINT_OPEN();
        sample->value = sum_passes(circle, turns);
    } else {
        CYC_HINT_OPEN();
        begin = rig->clock.begin();
        circle->turns(circle->arg, turns);
        sample->value = (int64_t)(rig->clock.end() - begin);
    }
    CYC_HINT_CLOSE();
    return begin;
}

static void run_test(struct cyc_rig *rig, const struct cyc_circle *circle, uint64_t turns,
                     struct cyc_sample *sample)
{
    int64_t before[CYC_COUNTERS_MAX];
    if (rig->rest != NULL) {
        rig->rest(rig->host);
        settle(circle);
    }
    rig->count(rig->host, before);
    begin_readings(rig, sample);
    uint64_t begin = time_turns(rig, circle, turns, sample);
    end_readings(rig, begin, sample);
    rig->count(rig->host, sample->counts);
    for (uint32_t i = 0; rig->counters[i] != NULL; i++)
        sample->counts[i] -= before[i];
    sample->at = (int64_t)(begin - rig->origin);
}

static void write_readings(const struct cyc_rig *rig, uint32_t count)
{
    static const char *const of_core[] = {"core_cycles", "core_ticks"};
    static const char *const of_chain[] = {"chain_before", "chain_after"};
    static const char *const of_issue[] = {"issue_before", "issue_after"};
    const char *const *of_speed = rig->core != NULL ? of_core : of_chain;
    const struct cyc_sample *s = rig->samples;
    for (int i = 0; i < 2; i++) {
        if (rig->core != NULL || rig->chain != NULL)
            cyc_record_ints(rig->writer, of_speed[i], &s->speed[i], count, sizeof *s);
        if (rig->independent != NULL)
            cyc_record_ints(rig->writer, of_issue[i], &s->issue[i], count, sizeof *s);
    }
}

static void write_samples(struct cyc_rig *rig, const char *kind, const struct cyc_circle *circle,
                          const char *method, uint32_t visit, uint32_t group, uint64_t turns,
                          uint32_t count)
{
    struct cyc_writer *w = rig->writer;
    const struct cyc_sample *s = rig->samples;
    cyc_record_open(w, kind);
    cyc_record_text(w, "circle", circle->contract->key);
    cyc_record_text(w, "method", method);
    cyc_record_int(w, "visit", visit);
    cyc_record_int(w, "group", group);
    cyc_record_int(w, "turns", (int64_t)turns);
    cyc_record_ints(w, "values", &s->value, count, sizeof *s);
    cyc_record_ints(w, "at", &s->at, count, sizeof *s);
    cyc_record_object_open(w, "counters");
    for (uint32_t i = 0; rig->counters[i] != NULL; i++)
        cyc_record_ints(w, rig->counters[i], &s->counts[i], count, sizeof *s);
    write_readings(rig, count);
    cyc_record_object_close(w);
    cyc_record_close(w);
    w->values += count;
}

static int flow_groups(struct cyc_rig *rig, const struct cyc_circle *circle, const char *method,
                       const struct cyc_flow *flow, uint32_t visit)
{
    if (flow->tests == 0 || flow->tests > rig->samples_max)
        return -1;
    // First of all, so that a target that dies in a test leaves behind what it was doing.
    cyc_record_circle(rig->writer, circle, method, flow);
    for (uint32_t group = 0; group < flow->groups; group++) {
        uint64_t turns = flow->initial + (uint64_t)group * flow->delta;
        settle(circle);
        // Nothing is written between the tests of a group: output would change what caches hold.
        for (uint32_t test = 0; test < flow->tests; test++)
            run_test(rig, circle, turns, &rig->samples[test]);
        write_samples(rig, "group", circle, method, visit, group, turns, flow->tests);
    }
    return 0;
}

int cyc_flow_accumulated(struct cyc_rig *rig, const struct cyc_circle *circle,
                         const struct cyc_flow *flow, uint32_t visit)
{
    return flow_groups(rig, circle, "accumulated", flow, visit);
}

int cyc_flow_proof(struct cyc_rig *rig, const struct cyc_circle *circle,
                   const struct cyc_flow *flow, uint32_t visit)
{
    return flow_groups(rig, circle, "proof", flow, visit);
}

static int64_t empty_pass(void *arg)
{
    const struct cyc_clock *clock = arg;
    uint64_t begin = clock->begin();
    return (int64_t)(clock->end() - begin);
}

// What a reading costs: the identical sequence with nothing between the readings.
static void write_overhead(struct cyc_rig *rig, const struct cyc_circle *circle, const char *method,
                           uint32_t count, uint32_t visit)
{
    struct cyc_circle empty = {circle->contract, cyc_empty_turns, circle->pass ? empty_pass : NULL,
                               &rig->clock};
    for (uint32_t i = 0; i < count; i++)
        run_test(rig, &empty, 1, &rig->samples[i]);
    write_samples(rig, "overhead", circle, method, visit, 0, 1, count);
}

static int flow_single(struct cyc_rig *rig, const struct cyc_circle *circle, const char *method,
                       uint32_t passes, uint32_t visit, int cold)
{
    struct cyc_flow flow = {.initial = 1, .delta = 0, .groups = 1, .tests = passes};
    if (passes == 0 || passes > rig->samples_max)
        return -1;
    cyc_record_circle(rig->writer, circle, method, &flow);
    // As many empty readings as passes, so that both are known equally well.
    write_overhead(rig, circle, method, passes, visit);
    settle(circle);
    // Once only: the passes after the first show how the caches fill again.
    if (cold && rig->evict != NULL)
        rig->evict(rig->host);
    for (uint32_t i = 0; i < passes; i++)
        run_test(rig, circle, 1, &rig->samples[i]);
    write_samples(rig, "pass", circle, method, visit, 0, 1, passes);
    return 0;
}

int cyc_flow_direct(struct cyc_rig *rig, const struct cyc_circle *circle, uint32_t passes,
                    uint32_t visit)
{
    return flow_single(rig, circle, "direct", passes, visit, 0);
}

int cyc_flow_passes(struct cyc_rig *rig, const struct cyc_circle *circle, uint32_t passes,
                    uint32_t visit)
{
    return flow_single(rig, circle, "passes", passes, visit, 1);
}
