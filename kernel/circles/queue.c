// SPDX-License-Identifier: BSD-2-Clause
//
// FIFOs and LIFOs, by Zephyr's keys: queues to which one appends, and to which one prepends. What
// is put is the putter's own memory (put, get: kernel threads) or a value in a container from the
// queue's heap (put.alloc, get.free).
#include "zephyr.h"

#define VALUE 42
#define HEAP_BYTES 4096

PART void get(struct props *p)
{
    queue_get(p->object, FOREVER);
}

PART void append_alloc(struct props *p)
{
    queue_append_alloc(p->object, VALUE);
}

PART void prepend_alloc(struct props *p)
{
    queue_prepend_alloc(p->object, VALUE);
}

static int64_t append_alloc_part(void *arg)
{
    return time_part(arg, nothing, append_alloc, get);
}

static int64_t get_appended_alloc_part(void *arg)
{
    return time_part(arg, append_alloc, get, nothing);
}

static int64_t prepend_alloc_part(void *arg)
{
    return time_part(arg, nothing, prepend_alloc, get);
}

static int64_t get_prepended_alloc_part(void *arg)
{
    return time_part(arg, prepend_alloc, get, nothing);
}

static int64_t append_alloc_pass(void *arg)
{
    return time_to_peer(arg, append_alloc);
}

static int64_t prepend_alloc_pass(void *arg)
{
    return time_to_peer(arg, prepend_alloc);
}

static int64_t get_pass(void *arg)
{
    return time_to_peer(arg, get);
}

static void getter(struct bench_shared *shared)
{
    stamp_after(shared, get);
}

static void alloc_appender(struct bench_shared *shared)
{
    stamp_before(shared, append_alloc);
}

static void alloc_prepender(struct bench_shared *shared)
{
    stamp_before(shared, prepend_alloc);
}

#ifndef USER_PROGRAM
PART void append(struct props *p)
{
    queue_append(p->object, (struct item *)p->shared->scratch);
}

PART void prepend(struct props *p)
{
    queue_prepend(p->object, (struct item *)p->shared->scratch);
}

static int64_t append_part(void *arg)
{
    return time_part(arg, nothing, append, get);
}

static int64_t get_appended_part(void *arg)
{
    return time_part(arg, append, get, nothing);
}

static int64_t prepend_part(void *arg)
{
    return time_part(arg, nothing, prepend, get);
}

static int64_t get_prepended_part(void *arg)
{
    return time_part(arg, prepend, get, nothing);
}

static int64_t append_pass(void *arg)
{
    return time_to_peer(arg, append);
}

static int64_t prepend_pass(void *arg)
{
    return time_to_peer(arg, prepend);
}

static void appender(struct bench_shared *shared)
{
    stamp_before(shared, append);
}

static void prepender(struct bench_shared *shared)
{
    stamp_before(shared, prepend);
}

static void attach_heap(struct bench_shared *shared)
{
    queue_set_heap(bench_object(shared, 0), bench_object(shared, 1));
}
#endif

#define PUT_AND_GET(put) SEQUENCE("client: " put, "client: queue_get")
#define OWN_ITEM \
    .sides = KERNEL_ALONE, .naming = BY_MODE, .client_calls = 2, .objects = {{OBJECT_queue, 0, 0}}
#define OWN_ITEM_PAIR .sides = K_TO_K, .objects = {{OBJECT_queue, 0, 0}}
#define WITH_HEAP \
    .objects = {{OBJECT_queue, 0, 0}, {OBJECT_heap, HEAP_BYTES, 0}}, .setup = IN_KERNEL(attach_heap)
#define CONTAINED .sides = ALL_ALONE, .naming = BY_MODE, .client_calls = 2, WITH_HEAP

// The rows of one kind of queue: `put` and `put_alloc` are its calls, the functions are theirs.
#define QUEUE_ROWS(name, put, part, get_part, put_pass, putter)                                   \
    {PART_OF_TURN(name ".put.immediate", "Put an item of one's own", PUT_AND_GET(put), put,       \
                  "subtracted"),                                                                  \
     OWN_ITEM, .pass = IN_KERNEL(part)},                                                          \
        {PART_OF_TURN(name ".get.immediate", "Get an item that is there", PUT_AND_GET(put),       \
                      "queue_get", "subtracted"),                                                 \
         OWN_ITEM, .pass = IN_KERNEL(get_part)},                                                  \
        {WAKE(name ".put.wake+ctx",                                                               \
              "Put an item that a more urgent thread waits for: until it runs", put, "queue_get", \
              "left in"),                                                                         \
         OWN_ITEM_PAIR, .pass = IN_KERNEL(put_pass), .peer = getter},                             \
    {                                                                                             \
        BLOCK(name ".get.blocking",                                                               \
              "Get an item that is not there: until a less urgent thread runs", "queue_get", put, \
              "left in"),                                                                         \
            OWN_ITEM_PAIR, .pass = get_pass, .peer = IN_KERNEL(putter)                            \
    }

#define ALLOC_QUEUE_ROWS(name, put, part, get_part, put_pass, putter)                             \
    {PART_OF_TURN(name ".put.alloc.immediate", "Allocate a container and put a value in it",      \
                  PUT_AND_GET(put), put, "left in"),                                              \
     CONTAINED, .pass = part},                                                                    \
        {PART_OF_TURN(name ".get.free.immediate",                                                 \
                      "Get a value that is there and free its container", PUT_AND_GET(put),       \
                      "queue_get", "left in"),                                                    \
         CONTAINED, .pass = get_part},                                                            \
        {WAKE(name ".put.alloc.wake+ctx",                                                         \
              "Put a value that a more urgent thread waits for: until it runs", put, "queue_get", \
              "left in"),                                                                         \
         WITH_HEAP, .sides = ALL_PAIRS, .pass = put_pass, .peer = getter},                        \
    {                                                                                             \
        BLOCK(name ".get.free.blocking",                                                          \
              "Get a value that is not there: until a less urgent thread runs", "queue_get", put, \
              "left in"),                                                                         \
            WITH_HEAP, .sides = ALL_PAIRS, .pass = get_pass, .peer = putter                       \
    }

const struct circle fifo_circles[] = {
    QUEUE_ROWS("fifo", "queue_append", append_part, get_appended_part, append_pass, appender),
    ALLOC_QUEUE_ROWS("fifo", "queue_append_alloc", append_alloc_part, get_appended_alloc_part,
                     append_alloc_pass, alloc_appender),
    END_OF_FAMILY,
};

const struct circle lifo_circles[] = {
    QUEUE_ROWS("lifo", "queue_prepend", prepend_part, get_prepended_part, prepend_pass, prepender),
    ALLOC_QUEUE_ROWS("lifo", "queue_prepend_alloc", prepend_alloc_part, get_prepended_alloc_part,
                     prepend_alloc_pass, alloc_prepender),
    END_OF_FAMILY,
};
