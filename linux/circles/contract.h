// SPDX-License-Identifier: BSD-2-Clause
//
// What the contracts of many circles have in common: who does what in which order, and how often
// the counters must count it, on one CPU under SCHED_FIFO. Each word stands for the named fields
// of a circle that it sets.
#ifndef LINUX_CIRCLES_CONTRACT_H
#define LINUX_CIRCLES_CONTRACT_H

#include "linux_circle.h"

// A circle of one thread that never leaves the CPU; `what` is its only event.
#define ALONE(what)                                                            \
    .sequence = CYC_SEQUENCE("client: " what), .from = "client: before " what, \
    .to = "client: after " what, .client = 50
#define ENTRIES(number) CYC_EXPECT({"entries", number}, {"switches", 0}, {"faults", 0})
// The variant of circles that differ by a number only.
#define SIZE(number) (&(const size_t){number})
// The parameters of a circle whose loop is CYC_SHORT_TURNS.
#define SHORT_LOOP CYC_PARAMS({"turns_a_branch", "16"})

// One round trip, a request and a reply, by calls that block until something is there: sequence and
// ends. Equal priorities: either side runs until it blocks. Otherwise the higher side preempts the
// lower one in the call that wakes it, and the lower side finds its message there when it asks for
// it.
#define ROUND_TRIP_EQUAL(send, receive)                                                      \
    .sequence = CYC_SEQUENCE("client: " send " request", "client: blocks in " receive,       \
                             "server: returns from " receive, "server: " send " reply",      \
                             "server: blocks in " receive, "client: returns from " receive), \
    .from = "client: before " send, .to = "client: after " receive
#define ROUND_TRIP_CLIENT_HIGHER(send, receive)                                               \
    .sequence = CYC_SEQUENCE("client: " send " request", "client: blocks in " receive,        \
                             "server: returns from " send " of last reply",                   \
                             "server: " receive " returns at once", "server: " send " reply", \
                             "client: preempts server, returns from " receive),               \
    .from = "client: before " send, .to = "client: after " receive
#define ROUND_TRIP_SERVER_HIGHER(send, receive)                                                    \
    .sequence =                                                                                    \
        CYC_SEQUENCE("client: " send " request", "server: preempts client, returns from " receive, \
                     "server: " send " reply", "server: blocks in " receive,                       \
                     "client: returns from " send, "client: " receive " returns at once"),         \
    .from = "client: before " send, .to = "client: after " receive

// The priorities of both sides, and the counts of a turn that follow: whom it wakes, and how the
// client leaves the CPU in it. `entries` are the system calls of both sides.
#define EQUAL(entries, space_) \
    EQUAL_ON_ONE_CPU(entries, space_), .elsewhere = BLOCKING_ELSEWHERE(entries)
#define EQUAL_ON_ONE_CPU(entries, space_)                                            \
    .expect = CYC_EXPECT({"entries", entries}, {"switches", 2},                      \
                         {"space_switches", SPACE_SWITCHES(space_)}, {"wakeups", 2}, \
                         {"voluntary", 1}, {"involuntary", 0}, {"faults", 0}),       \
    .space = space_, .client = 50, .server = 50
#define CLIENT_HIGHER(entries, space_)                                               \
    .expect = CYC_EXPECT({"entries", entries}, {"switches", 2},                      \
                         {"space_switches", SPACE_SWITCHES(space_)}, {"wakeups", 1}, \
                         {"voluntary", 1}, {"involuntary", 0}, {"faults", 0}),       \
    .space = space_, .client = 51, .server = 50
#define SERVER_HIGHER(entries, space_)                                               \
    .expect = CYC_EXPECT({"entries", entries}, {"switches", 2},                      \
                         {"space_switches", SPACE_SWITCHES(space_)}, {"wakeups", 1}, \
                         {"voluntary", 0}, {"involuntary", 1}, {"faults", 0}),       \
    .space = space_, .client = 50, .server = 51
// The same round trip between two CPUs. Either side leaves its CPU idle while it waits, unless the
// other CPU was quicker and it finds its message before it sleeps: how often, no contract can say.
#define BLOCKING_ELSEWHERE(entries)                                                          \
    &(const struct elsewhere){.expect = CYC_EXPECT({"entries", entries}, {"involuntary", 0}, \
                                                   {"faults", 0}, {"elsewhere", 0})}
// There and back.
#define SPACE_SWITCHES(space_) ((space_) == CROSS_SPACE ? 2 : 0)

#endif
