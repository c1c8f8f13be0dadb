// SPDX-License-Identifier: BSD-2-Clause
//
// The shape of a round trip between harts (smp=biglock, smp=fine): the client wakes the peer and
// waits, the peer wakes the client and waits. Each hart is idle while the other works, so a turn is
// two interrupts and four switches, from and to the idle threads, which stay in the loaded space.
#ifndef OTHER_HART_H
#define OTHER_HART_H

#include "bench/kernel_circle.h"

#define THERE_AND_BACK(wake, wait)                                                                \
    SEQUENCE("client: " wake, "client: " wait, "kernel: interrupt of idle",                       \
             "kernel: switch to peer", "peer: " wake, "peer: " wait, "kernel: interrupt of idle", \
             "kernel: switch to client")
#define BETWEEN_HARTS(key_, title_, wake, wait, kind, start, finish)                     \
    .contract = {.key = key_,                                                            \
                 .title = title_,                                                        \
                 .sequence = THERE_AND_BACK(wake, wait),                                 \
                 .interval = kind,                                                       \
                 .from = "client: before " start,                                        \
                 .to = finish,                                                           \
                 .expect = EXPECT({"wakeups", 2}, {"ipis", 2}, {"space_switches", 0}),   \
                 .params = PARAMS({"placement", "other_cpu"}),                           \
                 .correction = "none"},                                                  \
    .sides = U_TO_U, .client_calls = 2, .peer_calls = 2, .switches = 4, .interrupts = 2, \
    .other_cpu = 1, .client_priority = 10, .peer_priority = 10
#define ROUND_TRIP_BETWEEN_HARTS(key, title, wake, wait)                              \
    BETWEEN_HARTS(key, title, wake, wait, "round_trip", wake, "client: after " wait), \
        .spaces = SAME_SPACE | CROSS_SPACE, .naming = BY_NOTHING

#endif
