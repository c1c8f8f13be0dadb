// SPDX-License-Identifier: BSD-2-Clause
//
// The smallest complete port, for any system with POSIX threads. It uses the installed library:
//
//   make -C core install PREFIX=/opt/cyc
//   PKG_CONFIG_PATH=/opt/cyc/lib/pkgconfig cc one_file.c $(pkg-config --cflags --libs cyc) -pthread
//   ./a.out 'only=semaphore.*' > run.log && cyclometer ingest run.log -o run
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include <cyc/suite.h>

// 1. Output: bytes in order, to wherever the laboratory reads them.
static void put(void *context, const char *bytes, size_t length)
{
    (void)context;
    fwrite(bytes, 1, length, stdout);
}

// 2. A clock: one that the core knows, or a pair of functions like this one.
static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// 3. Threads, if a circle needs a peer.
static pthread_t peer;
static sem_t request, reply;

static void *answer(void *arg)
{
    for (;;) {
        sem_wait(&request);
        sem_post(&reply);
    }
    return arg;
}

static const char *set_up(void *arg)
{
    (void)arg;
    if (sem_init(&request, 0, 0) != 0 || sem_init(&reply, 0, 0) != 0)
        return "this system has no unnamed POSIX semaphores";
    return pthread_create(&peer, NULL, answer, NULL) == 0 ? NULL : "no thread could be created";
}

static void tear_down(void *arg)
{
    (void)arg;
    pthread_cancel(peer);
    pthread_join(peer, NULL);
}

// 4. Circles: the loop under test, and the contract that says what it does.
static void round_trips(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        sem_post(&request);
        sem_wait(&reply);
    }
}

static const struct cyc_suite_circle circles[] = {
    {
        .contract = {.key = "semaphore.round_trip",
                     .title = "POSIX semaphore given to another thread, and one back",
                     .sequence =
                         CYC_SEQUENCE("client: sem_post", "client: blocks in sem_wait",
                                      "peer: sem_wait, sem_post", "client: returns from sem_wait"),
                     .interval = "round_trip",
                     .from = "client: before sem_post",
                     .to = "client: after sem_wait",
                     .correction = "none",
                     .source = CYC_SOURCE},
        .turns = round_trips,
        .setup = set_up,
        .teardown = tear_down,
    },
    {.contract = {.key = NULL}},
};

int main(int argc, char **argv)
{
    static struct cyc_sample samples[100];
    static const struct cyc_hello hello = {.target = "posix", .kernel = "unknown"};
    struct cyc_writer writer = {.put = put};
    struct cyc_rig rig = {
        .clock = {.name = "monotonic", .unit = "ns", .begin = monotonic_ns, .end = monotonic_ns},
        .writer = &writer,
        .samples = samples,
        .samples_max = 100,
    };
    struct cyc_arguments arguments;
    const char *unknown = cyc_arguments_read(&arguments, argc > 1 ? argv[1] : "", NULL);
    if (unknown != NULL)
        fprintf(stderr, "not understood: %s\n", unknown);
    return cyc_suite_run(&rig, &hello, circles, &arguments);
}
