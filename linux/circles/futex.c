// SPDX-License-Identifier: BSD-2-Clause
//
// Raw futexes: the hand-off of one word, and messages in shared memory that a futex announces. A
// side calls FUTEX_WAKE always, and FUTEX_WAIT only if there is nothing to take.
#define _GNU_SOURCE
#include "futex.h"

#include "contract.h"

enum turn { CLIENT, SERVER };

#define WORDS_MAX 10

// A message in shared memory, and the word that announces it.
struct mailbox {
    _Atomic uint32_t number; // of the message in it, counted from 1
    uint64_t words[WORDS_MAX];
};

static struct board {
    _Atomic uint32_t turn;
    _Alignas(64) struct mailbox request;
    _Alignas(128) struct mailbox reply;
} *board;
static int scope;

static inline void hand_over(enum turn from, enum turn to)
{
    atomic_store_explicit(&board->turn, to, memory_order_release);
    futex_wake(&board->turn, scope);
    while (atomic_load_explicit(&board->turn, memory_order_acquire) != from)
        // It may return early, or at once if the other side was quicker.
        futex_wait(&board->turn, to, scope);
}

static void serve_hand_off(const struct linux_circle *self)
{
    (void)self;
    // Until the first turn the word belongs to the client.
    while (atomic_load(&board->turn) != SERVER)
        futex_wait(&board->turn, CLIENT, scope);
    for (;;)
        hand_over(SERVER, CLIENT);
}

static void hand_offs(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        hand_over(CLIENT, SERVER);
}

// `words` is a constant in every call, so the compiler unrolls or removes the loops.
static inline __attribute__((always_inline)) void post(struct mailbox *box, uint32_t number,
                                                       int words)
{
    for (int i = 0; i < words; i++)
        box->words[i] = number;
    atomic_store_explicit(&box->number, number, memory_order_release);
    futex_wake(&box->number, scope);
}

static inline __attribute__((always_inline)) void take(struct mailbox *box, uint32_t number,
                                                       int words)
{
    uint64_t sum = 0;
    while (atomic_load_explicit(&box->number, memory_order_acquire) != number)
        futex_wait(&box->number, number - 1, scope);
    for (int i = 0; i < words; i++)
        sum += box->words[i];
    __asm__ volatile("" ::"r"(sum)); // so that the words are read
}

static inline __attribute__((always_inline)) void serve_messages(int words)
{
    for (uint32_t number = 1;; number++) {
        take(&board->request, number, words);
        post(&board->reply, number, words);
    }
}

static inline __attribute__((always_inline)) void messages(uint64_t turns, int words)
{
    // The server counts on through all tests.
    uint32_t number = atomic_load(&board->request.number);
    for (; turns > 0; turns--) {
        number++;
        post(&board->request, number, words);
        take(&board->reply, number, words);
    }
}

static void serve_0(const struct linux_circle *self)
{
    (void)self;
    serve_messages(0);
}

static void serve_10(const struct linux_circle *self)
{
    (void)self;
    serve_messages(10);
}

static void messages_0(void *arg, uint64_t turns)
{
    (void)arg;
    messages(turns, 0);
}

static void messages_10(void *arg, uint64_t turns)
{
    (void)arg;
    messages(turns, 10);
}

static void set_up(const struct linux_circle *self, void (*body)(const struct linux_circle *self))
{
    board = shared_alloc(sizeof *board);
    scope = self->space == SAME_SPACE ? FUTEX_PRIVATE_FLAG : 0;
    peer_start(self, body);
}

static void set_up_hand_off(const struct linux_circle *self)
{
    set_up(self, serve_hand_off);
}

static void set_up_0(const struct linux_circle *self)
{
    set_up(self, serve_0);
}

static void set_up_10(const struct linux_circle *self)
{
    set_up(self, serve_10);
}

static void wakes(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        futex_wake(&board->turn, scope);
}

static void set_up_wake(const struct linux_circle *self)
{
    (void)self;
    board = shared_alloc(sizeof *board);
    scope = FUTEX_PRIVATE_FLAG;
}

// Under unequal priorities one side never sleeps: it finds the word changed and does without its
// FUTEX_WAIT, which saves one entry.
#define ENDS .from = "client: before store", .to = "client: sees the word changed"
#define HAND_OFF_EQUAL                                                                           \
    .sequence = CYC_SEQUENCE("client: store, FUTEX_WAKE", "client: blocks in FUTEX_WAIT",        \
                             "server: returns from FUTEX_WAIT", "server: store, FUTEX_WAKE",     \
                             "server: blocks in FUTEX_WAIT", "client: returns from FUTEX_WAIT"), \
    ENDS
// Between two CPUs a side may find the word changed before it sleeps, and then makes no FUTEX_WAIT.
#define HANDING_ELSEWHERE                                                          \
    .elsewhere = &(const struct elsewhere)                                         \
    {                                                                              \
        .expect = CYC_EXPECT({"involuntary", 0}, {"faults", 0}, {"elsewhere", 0}), \
        .at_least = CYC_EXPECT({"entries", 2})                                     \
    }
#define HAND_OFF_CLIENT_HIGHER                                                              \
    .sequence = CYC_SEQUENCE("client: store, FUTEX_WAKE", "client: blocks in FUTEX_WAIT",   \
                             "server: returns from last FUTEX_WAKE",                        \
                             "server: finds the word changed", "server: store, FUTEX_WAKE", \
                             "client: preempts server, returns from FUTEX_WAIT"),           \
    ENDS
#define HAND_OFF_SERVER_HIGHER                                                                     \
    .sequence = CYC_SEQUENCE("client: store, FUTEX_WAKE",                                          \
                             "server: preempts client, returns from FUTEX_WAIT",                   \
                             "server: store, FUTEX_WAKE", "server: blocks in FUTEX_WAIT",          \
                             "client: returns from FUTEX_WAKE", "client: finds the word changed"), \
    ENDS

CIRCLE("futex.wake.nobody") = {
    .title = "FUTEX_WAKE without a sleeper",
    ALONE("FUTEX_WAKE"),
    .expect = ENTRIES(1),
    .setup = set_up_wake,
    .turns = wakes,
};

CIRCLE("futex.hand_off.same.equal") = {
    .title = "Hand-off of a futex word and back, same space, equal priorities",
    HAND_OFF_EQUAL,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"words", "0"}),
    EQUAL_ON_ONE_CPU(4, SAME_SPACE),
    HANDING_ELSEWHERE,
    .setup = set_up_hand_off,
    .turns = hand_offs,
};

CIRCLE("futex.hand_off.same.client_higher") = {
    .title = "Hand-off of a futex word and back, same space, client of higher priority",
    HAND_OFF_CLIENT_HIGHER,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"words", "0"}),
    CLIENT_HIGHER(3, SAME_SPACE),
    .setup = set_up_hand_off,
    .turns = hand_offs,
};

CIRCLE("futex.hand_off.same.server_higher") = {
    .title = "Hand-off of a futex word and back, same space, server of higher priority",
    HAND_OFF_SERVER_HIGHER,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"words", "0"}),
    SERVER_HIGHER(3, SAME_SPACE),
    .setup = set_up_hand_off,
    .turns = hand_offs,
};

CIRCLE("futex.hand_off.cross.equal") = {
    .title = "Hand-off of a futex word and back, cross space, equal priorities",
    HAND_OFF_EQUAL,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"words", "0"}),
    EQUAL_ON_ONE_CPU(4, CROSS_SPACE),
    HANDING_ELSEWHERE,
    .setup = set_up_hand_off,
    .turns = hand_offs,
};

CIRCLE("futex.hand_off.cross.client_higher") = {
    .title = "Hand-off of a futex word and back, cross space, client of higher priority",
    HAND_OFF_CLIENT_HIGHER,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"words", "0"}),
    CLIENT_HIGHER(3, CROSS_SPACE),
    .setup = set_up_hand_off,
    .turns = hand_offs,
};

CIRCLE("futex.hand_off.cross.server_higher") = {
    .title = "Hand-off of a futex word and back, cross space, server of higher priority",
    HAND_OFF_SERVER_HIGHER,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"words", "0"}),
    SERVER_HIGHER(3, CROSS_SPACE),
    .setup = set_up_hand_off,
    .turns = hand_offs,
};

CIRCLE("shm_futex.round_trip.words_0.same.equal") = {
    .title = "Empty message in shared memory, announced by futex, and reply, same space, equal "
             "priorities",
    HAND_OFF_EQUAL,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"words", "0"}),
    EQUAL_ON_ONE_CPU(4, SAME_SPACE),
    HANDING_ELSEWHERE,
    .setup = set_up_0,
    .turns = messages_0,
};

CIRCLE("shm_futex.round_trip.words_0.same.client_higher") = {
    .title = "Empty message in shared memory, announced by futex, and reply, same space, client of "
             "higher priority",
    HAND_OFF_CLIENT_HIGHER,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"words", "0"}),
    CLIENT_HIGHER(3, SAME_SPACE),
    .setup = set_up_0,
    .turns = messages_0,
};

CIRCLE("shm_futex.round_trip.words_0.same.server_higher") = {
    .title = "Empty message in shared memory, announced by futex, and reply, same space, server of "
             "higher priority",
    HAND_OFF_SERVER_HIGHER,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"words", "0"}),
    SERVER_HIGHER(3, SAME_SPACE),
    .setup = set_up_0,
    .turns = messages_0,
};

CIRCLE("shm_futex.round_trip.words_0.cross.equal") = {
    .title = "Empty message in shared memory, announced by futex, and reply, cross space, equal "
             "priorities",
    HAND_OFF_EQUAL,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"words", "0"}),
    EQUAL_ON_ONE_CPU(4, CROSS_SPACE),
    HANDING_ELSEWHERE,
    .setup = set_up_0,
    .turns = messages_0,
};

CIRCLE("shm_futex.round_trip.words_0.cross.client_higher") = {
    .title = "Empty message in shared memory, announced by futex, and reply, cross space, client "
             "of higher priority",
    HAND_OFF_CLIENT_HIGHER,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"words", "0"}),
    CLIENT_HIGHER(3, CROSS_SPACE),
    .setup = set_up_0,
    .turns = messages_0,
};

CIRCLE("shm_futex.round_trip.words_0.cross.server_higher") = {
    .title = "Empty message in shared memory, announced by futex, and reply, cross space, server "
             "of higher priority",
    HAND_OFF_SERVER_HIGHER,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"words", "0"}),
    SERVER_HIGHER(3, CROSS_SPACE),
    .setup = set_up_0,
    .turns = messages_0,
};

CIRCLE("shm_futex.round_trip.words_10.same.equal") = {
    .title = "Ten words in shared memory, announced by futex, and as many back, same space, equal "
             "priorities",
    HAND_OFF_EQUAL,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"words", "10"}),
    EQUAL_ON_ONE_CPU(4, SAME_SPACE),
    HANDING_ELSEWHERE,
    .setup = set_up_10,
    .turns = messages_10,
};

CIRCLE("shm_futex.round_trip.words_10.same.client_higher") = {
    .title = "Ten words in shared memory, announced by futex, and as many back, same space, client "
             "of higher priority",
    HAND_OFF_CLIENT_HIGHER,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "client_higher"}, {"words", "10"}),
    CLIENT_HIGHER(3, SAME_SPACE),
    .setup = set_up_10,
    .turns = messages_10,
};

CIRCLE("shm_futex.round_trip.words_10.same.server_higher") = {
    .title = "Ten words in shared memory, announced by futex, and as many back, same space, server "
             "of higher priority",
    HAND_OFF_SERVER_HIGHER,
    .params = CYC_PARAMS({"space", "same"}, {"priority", "server_higher"}, {"words", "10"}),
    SERVER_HIGHER(3, SAME_SPACE),
    .setup = set_up_10,
    .turns = messages_10,
};

CIRCLE("shm_futex.round_trip.words_10.cross.equal") = {
    .title = "Ten words in shared memory, announced by futex, and as many back, cross space, equal "
             "priorities",
    HAND_OFF_EQUAL,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"words", "10"}),
    EQUAL_ON_ONE_CPU(4, CROSS_SPACE),
    HANDING_ELSEWHERE,
    .setup = set_up_10,
    .turns = messages_10,
};

CIRCLE("shm_futex.round_trip.words_10.cross.client_higher") = {
    .title = "Ten words in shared memory, announced by futex, and as many back, cross space, "
             "client of higher priority",
    HAND_OFF_CLIENT_HIGHER,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "client_higher"}, {"words", "10"}),
    CLIENT_HIGHER(3, CROSS_SPACE),
    .setup = set_up_10,
    .turns = messages_10,
};

CIRCLE("shm_futex.round_trip.words_10.cross.server_higher") = {
    .title = "Ten words in shared memory, announced by futex, and as many back, cross space, "
             "server of higher priority",
    HAND_OFF_SERVER_HIGHER,
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "server_higher"}, {"words", "10"}),
    SERVER_HIGHER(3, CROSS_SPACE),
    .setup = set_up_10,
    .turns = messages_10,
};
