// SPDX-License-Identifier: BSD-2-Clause
#include "runner.h"

#include <cyc/flow.h>

#include "board.h"
#include "build.h"
#include "console.h"
#include "eventlog.h"
#include "monitor.h"
#include "page_alloc.h"
#include "smp.h"
#include "space.h"
#include "string.h"
#include "thread.h"

#define PATIENCE_S \
    1000 // a circle that takes longer is stuck; while all wait, an emulated clock leaps ahead
#define ROLE_CLIENT 0
#define ROLE_PEER 1

struct object *bench_objects[BENCH_OBJECTS_MAX];
#if CONFIG_SMP
const int smp_sleeps = BOARD_CLOCK_HZ != 0; // not on RTL
#endif

// One circle's bench.
struct bench_threads {
    struct space *client_space, *peer_space; // NULL for kernel threads
    struct thread *client, *peer;            // peer is NULL for a circle of one thread
};

void only_in_user(void)
{
    panic("a kernel thread in user code");
}

static void write_hello(struct cyc_writer *w, const struct bench_args *d)
{
    cyc_record_open(w, "hello");
    cyc_record_int(w, "schema", CYC_SCHEMA);
    cyc_record_text(w, "target", BOARD_NAME);
    cyc_record_text(w, "kernel", "cyclometer " BUILD_VERSION);
    cyc_record_object_open(w, "configuration");
#define OPTION(name, value, on, off) cyc_record_text(w, name, (value) ? on : off)
    OPTION("userspace", CONFIG_USERSPACE, "on", "off");
    OPTION("canaries", CONFIG_CANARIES, "on", "off");
    OPTION("objcore", CONFIG_OBJCORE, "on", "off");
    OPTION("mcs", CONFIG_MCS, "on", "off");
    OPTION("timer", CONFIG_MTIME, "mtime", "rdtime");
    OPTION("asid", CONFIG_ASID, "on", "off");
    OPTION("accounting", CONFIG_ACCOUNTING, "on", "off");
    OPTION("eventlog", CONFIG_EVENTLOG, "on", "off");
#if CONFIG_SMP
    OPTION("smp", CONFIG_FINE, "fine", "biglock");
#endif
#undef OPTION
    cyc_record_object_close(w);
    cyc_record_clock(w, &machine_clock);
    cyc_record_object_open(w, "build");
    cyc_record_text(w, "compiler", __VERSION__);
    cyc_record_text(w, "flags", BUILD_FLAGS);
    cyc_record_text(w, "sources", BUILD_SOURCES);
    cyc_record_object_close(w);
    cyc_record_int(w, "timebase_hz", (int64_t)d->timebase_hz);
    cyc_record_int(w, "run", d->parameters.run);
    cyc_record_close(w);
}

// Badges are bits, so that the signals of several handles can be distinguished.
static void grant(struct space *space, unsigned handle, struct object *object)
{
#if CONFIG_USERSPACE
    if (space != NULL)
        space_grant(space, handle, object, 1ul << handle);
#else
    (void)space;
    (void)handle;
    (void)object;
#endif
}

static void place(const struct circle *circle, struct thread *t)
{
#if CONFIG_SMP
    if (circle->other_cpu)
        smp_place(t, 1);
#else
    (void)circle;
    (void)t;
#endif
}

static struct object *make_object(const struct circle *circle, const struct request *request,
                                  struct bench_threads *bench)
{
    if (request->type == OBJECT_thread) {
        struct thread *t = thread_allocate(bench->peer_space, "other");
        if (t == NULL)
            return NULL;
        place(circle, t);
        return &t->object;
    }
    return object_create(request->type, request->a, request->b);
}

static void make_objects(const struct circle *circle, struct bench_threads *bench)
{
    for (unsigned i = 0; i < BENCH_OBJECTS_MAX && circle->objects[i].type != OBJECT_none; i++) {
        bench_objects[i] = make_object(circle, &circle->objects[i], bench);
        if (bench_objects[i] == NULL)
            panic("no memory for object %u of %s", (uint64_t)i, circle->contract.key);
        grant(bench->client_space, i, bench_objects[i]);
        if (bench->peer_space != bench->client_space)
            grant(bench->peer_space, i, bench_objects[i]);
    }
}

static void drop_objects(void)
{
    for (unsigned i = 0; i < BENCH_OBJECTS_MAX && bench_objects[i] != NULL; i++) {
        if (bench_objects[i]->type == OBJECT_thread)
            thread_free((struct thread *)bench_objects[i]);
        else
            object_destroy(bench_objects[i]);
        bench_objects[i] = NULL;
    }
}

#if CONFIG_USERSPACE
static struct space *make_space(struct bench_shared *shared)
{
    struct space *space = space_create(shared);
    if (space == NULL)
        panic("no memory for an address space");
    return space;
}

static void make_spaces(struct bench_threads *bench, struct bench_shared *shared)
{
    const struct variant *v = &shared->variant;
    if (v->client_user)
        bench->client_space = make_space(shared);
    if (v->peer_user)
        bench->peer_space =
            v->client_user && !v->cross_space ? bench->client_space : make_space(shared);
}

static void drop_spaces(struct bench_threads *bench)
{
    if (bench->peer_space != NULL && bench->peer_space != bench->client_space)
        space_destroy(bench->peer_space);
    if (bench->client_space != NULL)
        space_destroy(bench->client_space);
}
#else
static void make_spaces(struct bench_threads *bench, struct bench_shared *shared)
{
    (void)bench;
    (void)shared;
}

static void drop_spaces(struct bench_threads *bench)
{
    (void)bench;
}

static uint64_t space_entry(void)
{
    return 0;
}
#endif

static struct thread *make_thread(const struct circle *circle, struct space *space,
                                  struct bench_shared *shared, int role)
{
    static const char *const names[] = {[ROLE_CLIENT] = "client", [ROLE_PEER] = "peer"};
    void (*const bodies[])(struct bench_shared *) = {[ROLE_CLIENT] = client_main,
                                                     [ROLE_PEER] = peer_main};
    uint8_t priority = role == ROLE_CLIENT ? circle->client_priority : circle->peer_priority;
    struct thread *t = thread_allocate(space, names[role]);
    if (t == NULL)
        panic("no more threads");
    thread_set_cooperative(t, circle->cooperative);
    thread_set_passive(t, circle->passive && role == ROLE_PEER);
    if (space != NULL)
        thread_create(t, space_entry(), (uint64_t)role, priority);
    else
        thread_create(t, (uint64_t)bodies[role], (uint64_t)shared, priority);
    return t;
}

// The peer starts first: where it is the more urgent, it waits by the time the client comes.
static void setup(const struct circle *circle, struct bench_threads *bench,
                  struct bench_shared *shared)
{
    make_spaces(bench, shared);
    make_objects(circle, bench);
    if (circle->setup != NULL)
        circle->setup(shared);
    if (circle->peer != NULL) {
        bench->peer = make_thread(circle, bench->peer_space, shared, ROLE_PEER);
        place(circle, bench->peer);
        thread_start(bench->peer);
    }
    bench->client = make_thread(circle, bench->client_space, shared, ROLE_CLIENT);
    thread_start(bench->client);
}

static void teardown(const struct circle *circle, struct bench_threads *bench,
                     struct bench_shared *shared)
{
    thread_free(bench->client);
    if (bench->peer != NULL)
        thread_free(bench->peer);
    if (circle->teardown != NULL)
        circle->teardown(shared);
    drop_objects();
    drop_spaces(bench);
}

static void run_variant(const struct bench_args *d, const struct circle *circle,
                        struct bench_shared *shared, const char *key)
{
    struct bench_threads bench = {0};
    setup(circle, &bench, shared);
    int64_t joined = thread_join(bench.client, PATIENCE_S * d->timebase_hz);
    struct cyc_writer *writer = bench_writer(shared);
    if (joined != 0)
        cyc_record_failed(writer, key, "the client timed out: blocked, and nothing woke it");
    else if (bench.client->fault != 0)
        cyc_record_failed(writer, key,
                          "the client ended by a fault: see the console text before this record");
#if CONFIG_EVENTLOG
    else if (d->parameters.log)
        eventlog_write(writer, key);
#endif
    teardown(circle, &bench, shared);
}

static void list_variant(const struct cyc_contract *contract, struct bench_shared *shared)
{
    const struct cyc_flow none = {0};
    const struct cyc_circle circle = {.contract = contract};
    cyc_record_circle(bench_writer(shared), &circle, "accumulated", &none);
}

static void fill_shared(struct bench_shared *shared, const struct parameters *p,
                        const struct circle *circle)
{
    shared->words = circle->words;
    memset(shared->scratch, 0, sizeof shared->scratch);
    shared->method = p->method;
    shared->flow = p->flow;
    shared->passes = p->passes;
    shared->visit++;
}

static void run_circle(const struct bench_args *d, const struct circle *circle,
                       struct bench_shared *shared)
{
    char key[KEY_BYTES];
    for (int i = -1; (i = variant_next(circle, i, &shared->variant)) >= 0;) {
        const struct cyc_contract *contract = variant_contract(circle, &shared->variant);
        if (!parameters_select(&d->parameters, contract->key))
            continue;
        string_append(key, key + sizeof key, contract->key);
        fill_shared(shared, &d->parameters, circle);
        if (d->parameters.list)
            list_variant(contract, shared);
        else
            run_variant(d, circle, shared, key);
    }
}

static void run_all(const struct bench_args *d, struct bench_shared *shared)
{
    const struct circle *circle;
    for (shared->circle = 0; (circle = circle_number(shared->circle)) != NULL; shared->circle++)
        if (parameters_may_select(&d->parameters, circle->contract.key))
            run_circle(d, circle, shared);
}

void runner_main(struct bench_args *d)
{
    struct bench_shared *shared = page_alloc();
    if (shared == NULL)
        panic("no memory for the shared");
    shared->origin = machine_clock.begin();
    write_hello(bench_writer(shared), d);
    if (d->bad_parameter != NULL)
        print("parameters: `%s` is not understood; give name=value words as kernel/README.md lists "
              "them\n",
              d->bad_parameter);
    else
        run_all(d, shared);
    cyc_record_end(bench_writer(shared));
    monitor_exit(d->bad_parameter != NULL);
}
