// SPDX-License-Identifier: BSD-2-Clause
//
// The measuring engine: runs a flow of a circle and writes what it saw.
// It computes no statistics and drops nothing.
#ifndef CYC_FLOW_H
#define CYC_FLOW_H

#include "circle.h"
#include "clock.h"
#include "record.h"

#define CYC_COUNTERS_MAX 48

// One test or pass as it is stored between the timed part and the writing.
struct cyc_sample {
    int64_t value; // clock end - begin, over all turns of the test
    int64_t at;    // clock at begin, since the rig's origin
    int64_t counts[CYC_COUNTERS_MAX]; // counter deltas over the test
};

// What the engine needs from its host. The host fills it once a run.
struct cyc_rig {
    struct cyc_clock clock;
    uint64_t origin;             // clock value that `at` counts from
    const char *const *counters; // names, at most CYC_COUNTERS_MAX; ends with NULL
    // Reads every counter, in the order of `counters`. Called outside the interval,
    // before and after each test; the same code each time.
    void (*count)(void *host, int64_t *counts);
    void (*rest)(void *host);  // lets the machine do before each test what it put off; NULL where that is not wanted
    void (*evict)(void *host); // empties caches and TLB before a cold pass; NULL where it cannot
    void *host;
    struct cyc_writer *writer;
    struct cyc_sample *samples; // the caller's buffer
    uint32_t samples_max;
};

// Each returns 0, or -1 where the flow does not fit the sample buffer (nothing is run then).
// `visit` numbers the visits of a run, so that interleaving can be told from the records.
// Before each group's first test a few turns run untimed, so that every peer is in its place.

// Accumulated method: groups x tests, one value a test, one `group` record a group.
int cyc_flow_accumulated(struct cyc_rig *rig, const struct cyc_circle *circle, const struct cyc_flow *flow,
                         uint32_t visit);
// The same with the host's expensive counters open: proves the contract; its times are not latencies.
int cyc_flow_proof(struct cyc_rig *rig, const struct cyc_circle *circle, const struct cyc_flow *flow, uint32_t visit);
// Direct method: `passes` single turns, preceded by as many empty readings as an `overhead` record.
int cyc_flow_direct(struct cyc_rig *rig, const struct cyc_circle *circle, uint32_t passes, uint32_t visit);
// Passes from cold to hot: evicts once where the rig can, then `passes` single turns, every one kept.
int cyc_flow_passes(struct cyc_rig *rig, const struct cyc_circle *circle, uint32_t passes, uint32_t visit);

// The empty circle: what the rig's own loop costs. Its disassembly is the claim.
void cyc_empty_turns(void *arg, uint64_t turns);

#endif
