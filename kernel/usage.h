// SPDX-License-Identifier: BSD-2-Clause
//
// Run-time statistics of a thread (objcore=on), kept on every switch.
#ifndef USAGE_H
#define USAGE_H

#include <stdint.h>

#include "riscv.h"

// A window is the time from a switch to the thread until the switch away from it.
struct usage {
    uint64_t started_cyc;
    uint64_t total_cyc;
    uint64_t longest_cyc;
    uint64_t windows;
};

static inline void usage_switch(struct usage *from, struct usage *to)
{
    uint64_t now_cyc = read_cycle();
    uint64_t window_cyc = now_cyc - from->started_cyc;
    from->total_cyc += window_cyc;
    from->windows++;
    // The maximum, without a branch, so that every switch costs the same.
    from->longest_cyc +=
        (window_cyc - from->longest_cyc) & -(uint64_t)(window_cyc > from->longest_cyc);
    to->started_cyc = now_cyc;
}

#endif
