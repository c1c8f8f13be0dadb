// SPDX-License-Identifier: BSD-2-Clause
//
// What the contracts of many circles have in common: where the server lives, who is of higher
// priority, and the order of events that follows from it on one CPU under SCHED_FIFO.
//
// A row names its space (same, cross) and its relation (equal, client_higher, server_higher)
// once; the words below give the key's part, the parameters and the counts from these names.
#ifndef LINUX_CIRCLES_CONTRACT_H
#define LINUX_CIRCLES_CONTRACT_H

#include "../circle.h"

#define SPACE_same SAME_SPACE
#define SPACE_cross CROSS_SPACE
#define SPACE_SWITCHES_same 0
#define SPACE_SWITCHES_cross 2 // there and back

#define CLIENT_equal 50
#define SERVER_equal 50
#define CLIENT_client_higher 51
#define SERVER_client_higher 50
#define CLIENT_server_higher 50
#define SERVER_server_higher 51

#define WORDS_same "same space"
#define WORDS_cross "cross space"
#define WORDS_equal "equal priorities"
#define WORDS_client_higher "client of higher priority"
#define WORDS_server_higher "server of higher priority"

// One round trip, a request and a reply, by calls that block until something is there. Equal: either
// side runs until it blocks. Otherwise the higher side preempts the lower one in the call that
// wakes it, and the lower side finds its message there when it asks for it.
#define ROUND_TRIP_equal(send, receive)                                                                                \
    SEQUENCE("client: " send " request", "client: blocks in " receive, "server: returns from " receive,                \
             "server: " send " reply", "server: blocks in " receive, "client: returns from " receive)
#define ROUND_TRIP_client_higher(send, receive)                                                                        \
    SEQUENCE("client: " send " request", "client: blocks in " receive, "server: returns from " send " of last reply",  \
             "server: " receive " returns at once", "server: " send " reply",                                          \
             "client: preempts server, returns from " receive)
#define ROUND_TRIP_server_higher(send, receive)                                                                        \
    SEQUENCE("client: " send " request", "server: preempts client, returns from " receive, "server: " send " reply",   \
             "server: blocks in " receive, "client: returns from " send, "client: " receive " returns at once")

// Whom a round trip wakes, and how the client leaves the CPU in it.
#define WAKEUPS_equal 2
#define WAKEUPS_client_higher 1
#define WAKEUPS_server_higher 1
#define VOLUNTARY_equal 1
#define VOLUNTARY_client_higher 1
#define VOLUNTARY_server_higher 0
#define INVOLUNTARY_equal 0
#define INVOLUNTARY_client_higher 0
#define INVOLUNTARY_server_higher 1

#define EXPECT_ROUND_TRIP(entries_, space_, relation_)                                                                 \
    EXPECT({"entries", entries_}, {"switches", 2}, {"space_switches", SPACE_SWITCHES_##space_},                        \
           {"wakeups", WAKEUPS_##relation_}, {"voluntary", VOLUNTARY_##relation_},                                     \
           {"involuntary", INVOLUNTARY_##relation_}, {"faults", 0})

// Members of a row with a server.
#define PLACED(space_, relation_)                                                                                      \
    .space = SPACE_##space_, .client = CLIENT_##relation_, .server = SERVER_##relation_
// A row in every space and relation; `row` is a macro of both.
#define EVERYWHERE(row)                                                                                                \
    row(same, equal), row(same, client_higher), row(same, server_higher), /* one space */                              \
        row(cross, equal), row(cross, client_higher), row(cross, server_higher)

// A circle of one thread that never leaves the CPU. `what` is its only event.
#define SOLO(key_, title_, what_, expect_, setup_, turns_, size_)                                                      \
    SOLO_WITH(key_, title_, what_, expect_, NULL, setup_, turns_, size_)
// One whose loop is CYC_SHORT_TURNS.
#define SHORT(key_, title_, what_, expect_, setup_, turns_, size_)                                                     \
    SOLO_WITH(key_, title_, what_, expect_, PARAMS({"turns_a_branch", "16"}), setup_, turns_, size_)
#define SOLO_WITH(key_, title_, what_, expect_, params_, setup_, turns_, size_)                                        \
    {                                                                                                                  \
        .contract = {.key = key_,                                                                                      \
                     .title = title_,                                                                                  \
                     .sequence = SEQUENCE("client: " what_),                                                           \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before " what_,                                                                  \
                     .to = "client: after " what_,                                                                     \
                     .expect = expect_,                                                                                \
                     .params = params_,                                                                                \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, .client = 50, .size = size_,                                                 \
    }

#define EXPECT_ENTRIES(entries_) EXPECT({"entries", entries_}, {"switches", 0}, {"faults", 0})

#endif
