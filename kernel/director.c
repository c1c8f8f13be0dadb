// SPDX-License-Identifier: BSD-2-Clause
#include "director.h"

#include "../core/flow.h"
#include "build.h"
#include "console.h"
#include "events.h"
#include "memory.h"
#include "monitor.h"
#include "space.h"
#include "text.h"
#include "thread.h"

#define PATIENCE_S 1000 // a circle that takes longer is stuck; while all wait, an emulated clock leaps ahead
#define ROLE_CLIENT 0
#define ROLE_PEER 1

struct object *stage_objects[STAGE_OBJECTS];

// One circle's cast.
struct cast {
    struct space *client_space, *peer_space; // NULL for kernel threads
    struct thread *client, *peer;            // peer is NULL for a circle of one thread
};

void only_in_user(void)
{
    panic("a kernel thread in user code");
}

static void write_hello(struct cyc_writer *w, const struct direction *d)
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

// Badges are bits, so that the signals of several handles can be told apart.
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

static struct object *make_object(const struct request *request, struct cast *cast)
{
    if (request->type == OBJECT_thread) {
        struct thread *t = thread_allocate(cast->peer_space, "other");
        return t != NULL ? &t->object : NULL;
    }
    return object_create(request->type, request->a, request->b);
}

static void make_objects(const struct circle *circle, struct cast *cast)
{
    for (unsigned i = 0; i < STAGE_OBJECTS && circle->objects[i].type != OBJECT_none; i++) {
        stage_objects[i] = make_object(&circle->objects[i], cast);
        if (stage_objects[i] == NULL)
            panic("no memory for object %u of %s", (uint64_t)i, circle->contract.key);
        grant(cast->client_space, i, stage_objects[i]);
        if (cast->peer_space != cast->client_space)
            grant(cast->peer_space, i, stage_objects[i]);
    }
}

static void drop_objects(void)
{
    for (unsigned i = 0; i < STAGE_OBJECTS && stage_objects[i] != NULL; i++) {
        if (stage_objects[i]->type == OBJECT_thread)
            thread_free((struct thread *)stage_objects[i]);
        else
            object_destroy(stage_objects[i]);
        stage_objects[i] = NULL;
    }
}

#if CONFIG_USERSPACE
static struct space *make_space(struct stage *stage)
{
    struct space *space = space_create(stage);
    if (space == NULL)
        panic("no memory for an address space");
    return space;
}

static void make_spaces(struct cast *cast, struct stage *stage)
{
    const struct variant *v = &stage->variant;
    if (v->client_user)
        cast->client_space = make_space(stage);
    if (v->peer_user)
        cast->peer_space = v->client_user && !v->cross_space ? cast->client_space : make_space(stage);
}

static void drop_spaces(struct cast *cast)
{
    if (cast->peer_space != NULL && cast->peer_space != cast->client_space)
        space_destroy(cast->peer_space);
    if (cast->client_space != NULL)
        space_destroy(cast->client_space);
}
#else
static void make_spaces(struct cast *cast, struct stage *stage)
{
    (void)cast;
    (void)stage;
}

static void drop_spaces(struct cast *cast)
{
    (void)cast;
}

static uint64_t space_entry(void)
{
    return 0;
}
#endif

static struct thread *make_thread(const struct circle *circle, struct space *space, struct stage *stage, int role)
{
    static const char *const names[] = {[ROLE_CLIENT] = "client", [ROLE_PEER] = "peer"};
    void (*const bodies[])(struct stage *) = {[ROLE_CLIENT] = client_main, [ROLE_PEER] = peer_main};
    uint8_t priority = role == ROLE_CLIENT ? circle->client_priority : circle->peer_priority;
    struct thread *t = thread_allocate(space, names[role]);
    if (t == NULL)
        panic("no more threads");
    thread_set_cooperative(t, circle->cooperative);
    thread_set_passive(t, circle->passive && role == ROLE_PEER);
    if (space != NULL)
        thread_create(t, space_entry(), (uint64_t)role, priority);
    else
        thread_create(t, (uint64_t)bodies[role], (uint64_t)stage, priority);
    return t;
}

// The peer starts first: where it is the more urgent, it waits by the time the client comes.
static void raise_curtain(const struct circle *circle, struct cast *cast, struct stage *stage)
{
    make_spaces(cast, stage);
    make_objects(circle, cast);
    if (circle->setup != NULL)
        circle->setup(stage);
    if (circle->peer != NULL) {
        cast->peer = make_thread(circle, cast->peer_space, stage, ROLE_PEER);
        thread_start(cast->peer);
    }
    cast->client = make_thread(circle, cast->client_space, stage, ROLE_CLIENT);
    thread_start(cast->client);
}

static void lower_curtain(const struct circle *circle, struct cast *cast, struct stage *stage)
{
    thread_free(cast->client);
    if (cast->peer != NULL)
        thread_free(cast->peer);
    if (circle->teardown != NULL)
        circle->teardown(stage);
    drop_objects();
    drop_spaces(cast);
}

static void run_variant(const struct direction *d, const struct circle *circle, struct stage *stage, const char *key)
{
    struct cast cast = {0};
    raise_curtain(circle, &cast, stage);
    int64_t joined = thread_join(cast.client, PATIENCE_S * d->timebase_hz);
    struct cyc_writer *writer = stage_writer(stage);
    if (joined != 0)
        cyc_record_failed(writer, key, "the client is stuck: it waits for what never comes");
    else if (cast.client->fault != 0)
        cyc_record_failed(writer, key, "the client ended by a fault: see the console text before this record");
#if CONFIG_EVENTLOG
    else if (d->parameters.log)
        events_write(writer, key);
#endif
    lower_curtain(circle, &cast, stage);
}

static void list_variant(const struct cyc_contract *contract, struct stage *stage)
{
    const struct cyc_flow none = {0};
    const struct cyc_circle circle = {.contract = contract};
    cyc_record_circle(stage_writer(stage), &circle, "accumulated", &none);
}

static void prepare_stage(struct stage *stage, const struct parameters *p, const struct circle *circle)
{
    stage->words = circle->words;
    memset(stage->scratch, 0, sizeof stage->scratch);
    stage->method = p->method;
    stage->flow = p->flow;
    stage->passes = p->passes;
    stage->visit++;
}

static void run_circle(const struct direction *d, const struct circle *circle, struct stage *stage)
{
    char key[KEY_BYTES];
    for (int i = -1; (i = variant_next(circle, i, &stage->variant)) >= 0;) {
        const struct cyc_contract *contract = variant_contract(circle, &stage->variant);
        if (!parameters_select(&d->parameters, contract->key))
            continue;
        text_append(key, key + sizeof key, contract->key);
        prepare_stage(stage, &d->parameters, circle);
        if (d->parameters.list)
            list_variant(contract, stage);
        else
            run_variant(d, circle, stage, key);
    }
}

static void run_all(const struct direction *d, struct stage *stage)
{
    const struct circle *circle;
    for (stage->circle = 0; (circle = circle_number(stage->circle)) != NULL; stage->circle++)
        if (parameters_may_select(&d->parameters, circle->contract.key))
            run_circle(d, circle, stage);
}

void director_main(struct direction *d)
{
    struct stage *stage = page_take();
    if (stage == NULL)
        panic("no memory for the stage");
    stage->origin = machine_clock.begin();
    write_hello(stage_writer(stage), d);
    if (d->bad_parameter != NULL)
        print("parameters: `%s` is not understood; give name=value words as kernel/README.md lists them\n",
              d->bad_parameter);
    else
        run_all(d, stage);
    cyc_record_end(stage_writer(stage));
    monitor_exit(d->bad_parameter != NULL);
}
