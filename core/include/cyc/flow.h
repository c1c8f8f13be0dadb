// SPDX-License-Identifier: BSD-2-Clause
//
// The measuring engine: runs a flow of a circle and writes what it saw.
// It computes no statistics and drops nothing.
#ifndef CYC_FLOW_H
#define CYC_FLOW_H

#include <cyc/circle.h>
#include <cyc/clock.h>
#include <cyc/record.h>

// A port with little memory sets a smaller number, for the library and for itself alike.
#ifndef CYC_COUNTERS_MAX
#define CYC_COUNTERS_MAX 48
#endif

// One test or pass as it is stored between the timed part and the writing.
struct cyc_sample {
    int64_t value;    // clock end - begin, over all turns of the test
    int64_t at;       // clock at begin, since the rig's origin
    int64_t speed[2]; // how fast the core ran: cycles and clock, or chain before and after
    int64_t issue[2]; // what `rig.independent` took before and after
    int64_t counts[CYC_COUNTERS_MAX]; // counter deltas over the test
};

// What the engine needs from its host, which fills it once per run.
struct cyc_rig {
    struct cyc_clock clock;
    uint64_t origin;             // clock value that `at` counts from
    const char *const *counters; // names, at most CYC_COUNTERS_MAX; ends with NULL
    // Reads every counter, in the order of `counters`. Called outside the interval,
    // before and after each test; the same code each time.
    void (*count)(void *host, int64_t *counts);
    void (*rest)(void *host);  // before each test: lets the machine do what it has put off; or NULL
    void (*evict)(void *host); // empties caches and TLB before a cold pass; NULL if it cannot
    // How fast the core runs about each test, at most one of the two: a counter of its cycles that
    // costs next to nothing to read, or instructions of known length (cyc/chain.h) that are timed
    // directly before and after the test.
    uint64_t (*core)(void);
    void (*chain)(void);
    // Instructions that need nothing of each other, timed directly before and after each test,
    // show whether the core had another thread to serve; NULL if nobody asks.
    void (*independent)(void);
    void *host;
    struct cyc_writer *writer;
    struct cyc_sample *samples; // the caller's buffer
    uint32_t samples_max;
};

// Each returns 0, or -1 if the flow does not fit the sample buffer (nothing is run then). `visit`
// numbers the visits of a run, so that the records show their order. Before each group's first test
// a few turns run untimed, so that every peer is in its place.

// Accumulated method: one value per test, one `group` record per group.
int cyc_flow_accumulated(struct cyc_rig *rig, const struct cyc_circle *circle,
                         const struct cyc_flow *flow, uint32_t visit);
// The same with the host's expensive counters open: proves the contract; its times are not
// latencies.
int cyc_flow_proof(struct cyc_rig *rig, const struct cyc_circle *circle,
                   const struct cyc_flow *flow, uint32_t visit);
// Direct method: `passes` single turns, preceded by as many empty readings as an `overhead` record.
int cyc_flow_direct(struct cyc_rig *rig, const struct cyc_circle *circle, uint32_t passes,
                    uint32_t visit);
// Passes from cold to hot: evicts once if the rig can, then `passes` single turns.
int cyc_flow_passes(struct cyc_rig *rig, const struct cyc_circle *circle, uint32_t passes,
                    uint32_t visit);

// The empty circle: what the rig's own loop costs, an addition and a branch per turn.
void cyc_empty_turns(void *arg, uint64_t turns);

#endif
