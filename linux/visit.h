// SPDX-License-Identifier: BSD-2-Clause
//
// One visit of one circle, in a process of its own that a watchdog can end.
#ifndef LINUX_VISIT_H
#define LINUX_VISIT_H

#include "host.h"

// Makes run->visit in a process of its own, which executes the harness anew with `arguments`, and
// writes its records. A circle that hangs, dies or cannot run here is reported as a `failed` or
// `skipped` record; the caller goes on.
void visit_run(char **arguments, const struct options *options);
// That process: measures, and ends.
_Noreturn void visit_make(const struct cyc_clock *clock, const struct options *options);

#endif
