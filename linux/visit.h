// SPDX-License-Identifier: BSD-2-Clause
//
// One visit of one circle, in a process of its own that a watchdog can end.
#ifndef LINUX_VISIT_H
#define LINUX_VISIT_H

#include "host.h"
#include "registry.h"

// How long a line of the plan asks a circle to be measured.
struct visit {
    uint32_t number;
    const struct registered_circle *circle;
    const char *method; // "accumulated", "direct", "passes" or "proof"
    struct cyc_flow flow;
};

// Makes the memory that the supervisor and all visits share; once a run.
void visit_prepare(struct cyc_writer *writer);
// Runs a visit and writes its records. A circle that hangs, dies or cannot run here is
// reported as a `failed` or `skipped` record; the caller goes on.
void visit_run(const struct visit *visit, const struct cyc_clock *clock,
               const struct options *options);
// The writer all visits of the run share.
struct cyc_writer *visit_writer(void);

#endif
