// SPDX-License-Identifier: BSD-2-Clause
//
// Raw futexes: the hand-off of one word, and messages in shared memory announced by a futex.
// FUTEX_WAIT is called only while there is nothing to take, FUTEX_WAKE always.
#define _GNU_SOURCE
#include "futex.h"

#include "contract.h"

enum turn { CLIENT, SERVER };

#define WORDS_MAX 10

// A message in shared memory, and the word that announces it.
struct mailbox {
    _Atomic uint32_t number; // of the message in it; grows by one a message
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
        futex_wait(&board->turn, to, scope);
}

static void serve_hand_off(const struct circle *self)
{
    (void)self;
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

// `words` is a constant at every call, so that a circle carries no loop it does not need.
static inline __attribute__((always_inline)) void post(struct mailbox *box, uint32_t number, int words)
{
    for (int i = 0; i < words; i++)
        box->words[i] = number;
    atomic_store_explicit(&box->number, number, memory_order_release);
    futex_wake(&box->number, scope);
}

static inline __attribute__((always_inline)) void take(struct mailbox *box, uint32_t number, int words)
{
    uint64_t sum = 0;
    while (atomic_load_explicit(&box->number, memory_order_acquire) != number)
        futex_wait(&box->number, number - 1, scope);
    for (int i = 0; i < words; i++)
        sum += box->words[i];
    __asm__ volatile("" ::"r"(sum)); // the words were read
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
    uint32_t number = atomic_load(&board->request.number);
    for (; turns > 0; turns--) {
        number++;
        post(&board->request, number, words);
        take(&board->reply, number, words);
    }
}

static void serve_0(const struct circle *self)
{
    (void)self;
    serve_messages(0);
}

static void serve_10(const struct circle *self)
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

static void set_up(const struct circle *self, void (*body)(const struct circle *self))
{
    board = shared_alloc(sizeof *board);
    scope = self->space == SAME_SPACE ? FUTEX_PRIVATE_FLAG : 0;
    peer_start(self, body);
}

static void set_up_hand_off(const struct circle *self)
{
    set_up(self, serve_hand_off);
}

static void set_up_0(const struct circle *self)
{
    set_up(self, serve_0);
}

static void set_up_10(const struct circle *self)
{
    set_up(self, serve_10);
}

static void wakes(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        futex_wake(&board->turn, scope);
}

static void set_up_wake(const struct circle *self)
{
    (void)self;
    board = shared_alloc(sizeof *board);
    scope = FUTEX_PRIVATE_FLAG;
}

// Under unequal priorities one side never sleeps: it finds the word changed and saves its FUTEX_WAIT.
#define SEQUENCE_equal                                                                                                 \
    SEQUENCE("client: store, FUTEX_WAKE", "client: blocks in FUTEX_WAIT", "server: returns from FUTEX_WAIT",           \
             "server: store, FUTEX_WAKE", "server: blocks in FUTEX_WAIT", "client: returns from FUTEX_WAIT")
#define SEQUENCE_client_higher                                                                                         \
    SEQUENCE("client: store, FUTEX_WAKE", "client: blocks in FUTEX_WAIT", "server: returns from last FUTEX_WAKE",      \
             "server: finds the word changed", "server: store, FUTEX_WAKE",                                            \
             "client: preempts server, returns from FUTEX_WAIT")
#define SEQUENCE_server_higher                                                                                         \
    SEQUENCE("client: store, FUTEX_WAKE", "server: preempts client, returns from FUTEX_WAIT",                          \
             "server: store, FUTEX_WAKE", "server: blocks in FUTEX_WAIT", "client: returns from FUTEX_WAKE",           \
             "client: finds the word changed")
#define ENTRIES_equal 4
#define ENTRIES_client_higher 3
#define ENTRIES_server_higher 3

#define FUTEX(key_, title_, words_, setup_, turns_, space_, relation_)                                                 \
    {                                                                                                                  \
        .contract = {.key = key_ "." #space_ "." #relation_,                                                           \
                     .title = title_ ", " WORDS_##space_ ", " WORDS_##relation_,                                       \
                     .sequence = SEQUENCE_##relation_,                                                                 \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before store",                                                                   \
                     .to = "client: sees the word changed",                                                            \
                     .expect = EXPECT_ROUND_TRIP(ENTRIES_##relation_, space_, relation_),                              \
                     .params = PARAMS({"space", #space_}, {"priority", #relation_}, {"words", words_}),                \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, PLACED(space_, relation_),                                                   \
    }
#define HAND_OFF(space_, relation_)                                                                                    \
    FUTEX("futex.hand_off", "Hand-off of a futex word and back", "0", set_up_hand_off, hand_offs, space_, relation_)
#define WORDS_0(space_, relation_)                                                                                     \
    FUTEX("shm_futex.round_trip.words_0", "Empty message in shared memory, announced by futex, and reply", "0",        \
          set_up_0, messages_0, space_, relation_)
#define WORDS_10(space_, relation_)                                                                                    \
    FUTEX("shm_futex.round_trip.words_10", "Ten words in shared memory, announced by futex, and as many back", "10",   \
          set_up_10, messages_10, space_, relation_)

const struct circle futex_circles[] = {
    SOLO("futex.wake.nobody", "FUTEX_WAKE without a sleeper", "FUTEX_WAKE", EXPECT_ENTRIES(1), set_up_wake, wakes, 0),
    EVERYWHERE(HAND_OFF),
    EVERYWHERE(WORDS_0),
    EVERYWHERE(WORDS_10),
    END_OF_FAMILY,
};
