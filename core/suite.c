// SPDX-License-Identifier: BSD-2-Clause
#include <cyc/suite.h>

static void count_nothing(void *host, int64_t *counts)
{
    (void)host;
    (void)counts;
}

static void list(struct cyc_writer *w, const struct cyc_suite_circle *c)
{
    static const struct cyc_flow none;
    struct cyc_circle circle = {&c->contract, c->turns, c->pass, c->arg};
    cyc_record_circle(w, &circle, "accumulated", &none);
}

// A circle whose ends lie in different threads has no accumulated latency: its turns are timed one
// by one.
static int run_flow(struct cyc_rig *rig, const struct cyc_suite_circle *c,
                    const struct cyc_arguments *arguments, uint32_t visit)
{
    struct cyc_circle circle = {&c->contract, c->turns, c->pass, c->arg};
    if (arguments->method == CYC_PASSES)
        return cyc_flow_passes(rig, &circle, arguments->passes, visit);
    if (arguments->method == CYC_DIRECT || c->pass != NULL)
        return cyc_flow_direct(rig, &circle, arguments->passes, visit);
    return cyc_flow_accumulated(rig, &circle, &arguments->flow, visit);
}

// 0, or -1 if the circle failed, which the records say.
static int visit(struct cyc_rig *rig, const struct cyc_suite_circle *c,
                 const struct cyc_arguments *arguments, uint32_t number)
{
    const char *missing = c->setup != NULL ? c->setup(c->arg) : NULL;
    int failed = 0;
    if (missing != NULL) {
        // Nothing was set up, so nothing is torn down.
        cyc_record_skipped(rig->writer, c->contract.key, missing);
        return 0;
    }
    if (run_flow(rig, c, arguments, number) != 0) {
        failed = -1;
        cyc_record_failed(rig->writer, c->contract.key,
                          "the flow has more tests than the sample buffer, or none");
    }
    if (c->teardown != NULL)
        c->teardown(c->arg);
    return failed;
}

int cyc_suite_run(struct cyc_rig *rig, const struct cyc_hello *hello,
                  const struct cyc_suite_circle *circles, const struct cyc_arguments *arguments)
{
    static const char *const no_counters[] = {NULL};
    uint32_t number = 0;
    int failed = 0;
    if (rig->counters == NULL || rig->count == NULL) {
        rig->counters = no_counters;
        rig->count = count_nothing;
    }
    // Every `at` in the records counts from here.
    rig->origin = rig->clock.begin();
    cyc_record_hello(rig->writer, &rig->clock, hello, arguments->run);
    for (; circles->contract.key != NULL; circles++) {
        if (!cyc_arguments_select(arguments, circles->contract.key))
            continue;
        if (arguments->list)
            list(rig->writer, circles);
        else
            failed -= visit(rig, circles, arguments, number++);
    }
    cyc_record_end(rig->writer);
    return failed;
}
