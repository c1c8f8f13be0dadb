// SPDX-License-Identifier: BSD-2-Clause
//
// A whole run on one machine: hello, the circles that the boot arguments select, end. For a port
// that has neither a process nor a boot per circle. Freestanding.
#ifndef CYC_SUITE_H
#define CYC_SUITE_H

#include <cyc/arguments.h>
#include <cyc/circle.h>
#include <cyc/flow.h>
#include <cyc/record.h>

// A circle as a port writes it down. A list ends with {0}.
struct cyc_suite_circle {
    struct cyc_contract contract;
    cyc_turns_fn *turns; // NULL if `pass` times every turn by itself
    cyc_pass_fn *pass;   // NULL unless the interval's ends lie in two threads
    void *arg;           // for all four functions
    // Makes the objects and starts the peers. NULL, or a sentence that gives the reason why this
    // machine cannot run the circle. The member may be NULL.
    const char *(*setup)(void *arg);
    void (*teardown)(void *arg); // ends the peers; may be NULL
};

// Runs the circles that the arguments select, by their method and flow, and writes all records.
// `rig` has its clock, writer and sample buffer; `counters` and `count` may be NULL if the port
// counts nothing. hello->run is taken from the arguments. Returns the number of circles that
// failed.
int cyc_suite_run(struct cyc_rig *rig, const struct cyc_hello *hello,
                  const struct cyc_suite_circle *circles, const struct cyc_arguments *arguments);

#endif
