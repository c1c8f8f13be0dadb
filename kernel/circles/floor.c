// SPDX-License-Identifier: BSD-2-Clause
//
// The floor: what the rig, the clock and an entry into the kernel cost at least.
#include <cyc/flow.h>

#include "bench/kernel_circle.h"

static void clock_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        (void)cyc_native_end();
}

static void crossing_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        null();
}

const struct circle floor_circles[] = {
    {.contract = {.key = "floor.empty",
                  .title = "Empty circle: the rig's own loop",
                  .sequence = SEQUENCE(NULL),
                  .interval = "round_trip",
                  .from = "client: before the loop",
                  .to = "client: after the loop",
                  .correction = "none"},
     .sides = ALL_ALONE,
     .naming = BY_MODE,
     .turns = cyc_empty_turns,
     .client_priority = 10},
    {.contract = {.key = "clock.read",
                  .title = "Reading of the clock",
                  .sequence = SEQUENCE(NULL),
                  .interval = "round_trip",
                  .from = "client: before the reading",
                  .to = "client: after the reading",
                  .correction = "none"},
     .sides = ALL_ALONE,
     .naming = BY_MODE,
     .turns = clock_turns,
     .client_priority = 10},
    {.contract = {.key = "floor.crossing",
                  .title = "System call that does nothing: into the kernel and back",
                  .sequence = SEQUENCE("client: null"),
                  .interval = "round_trip",
                  .from = "client: before null",
                  .to = "client: after null",
                  .correction = "none"},
     .sides = USER_ALONE,
     .naming = BY_MODE,
     .turns = crossing_turns,
     .client_priority = 10,
     .client_calls = 1},
    END_OF_FAMILY,
};
