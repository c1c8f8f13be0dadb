// SPDX-License-Identifier: BSD-2-Clause
//
// Threads and processes: giving up the CPU, and making and ending them.
//
// The yield's switch counts as involuntary: the thread stays runnable. A thread or process that
// is made within a turn is no participant of the visit, so its own switch shows in `cpu_switches` only.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract.h"
#include "exit_image.h"

static void serve_yield(const struct circle *self)
{
    (void)self;
    for (;;)
        sched_yield();
}

static void set_up_yield(const struct circle *self)
{
    peer_start(self, serve_yield);
}

static void yields(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        sched_yield();
}

// What locked memory would add to a circle is not its object: a new stack or process pre-faulted.
static void unlock_future_memory(const struct circle *self)
{
    (void)self;
    mlockall(MCL_CURRENT);
}

static void *return_at_once(void *arg)
{
    return arg;
}

static void create_joins(void *arg, uint64_t turns)
{
    pthread_t thread;
    (void)arg;
    for (; turns > 0; turns--)
        if (pthread_create(&thread, NULL, return_at_once, NULL) != 0 || pthread_join(thread, NULL) != 0)
            circle_fail("pthread_create");
}

static void fork_waits(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        must(waitpid(child, NULL, 0), "fork or waitpid");
    }
}

static int image_fd;

static void set_up_exec(const struct circle *self)
{
    image_fd = exit_image_open();
    if (image_fd < 0)
        circle_skip("this kernel refuses to execute a memfd (vm.memfd_noexec)");
    unlock_future_memory(self);
}

// Apart from the loop, whose variables the child would share.
static __attribute__((noinline)) pid_t vfork_exec(void)
{
    pid_t child = vfork();
    if (child == 0) {
        exit_image_exec(image_fd);
        _exit(1);
    }
    return child;
}

static void vfork_execs(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        int status = 0;
        must(waitpid(vfork_exec(), &status, 0), "vfork or waitpid");
        if (status != 0)
            circle_fail("execveat of a memfd");
    }
}

#define YIELD(space_, priority_)                                                                                       \
    {                                                                                                                  \
        .contract = {.key = "thread.yield." #space_ ".fifo_" #priority_,                                               \
                     .title = "sched_yield and back, " WORDS_##space_ ", both SCHED_FIFO " #priority_,                 \
                     .sequence = SEQUENCE("client: sched_yield", "server: returns from sched_yield",                   \
                                          "server: sched_yield", "client: returns from sched_yield"),                  \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before sched_yield",                                                             \
                     .to = "client: after sched_yield",                                                                \
                     .expect = EXPECT({"entries", 2}, {"switches", 2},                                                 \
                                      {"space_switches", SPACE_SWITCHES_##space_}, {"wakeups", 0}, {"voluntary", 0},   \
                                      {"involuntary", 1}, {"faults", 0}),                                              \
                     .params = PARAMS({"space", #space_}, {"priority", "equal"}, {"fifo", #priority_}),                \
                     .correction = "none"},                                                                            \
        .setup = set_up_yield, .turns = yields, .space = SPACE_##space_, .client = priority_, .server = priority_,     \
    }

// The client blocks once and is switched to once; in between the CPU runs the new thread or process.
// How many system calls pthread_create makes is the C library's affair, so they are not proven there.
#define BORN_AND_GONE {"switches", 1}, {"cpu_switches", 2}, {"voluntary", 1}, {"involuntary", 0}

#define BIRTH(key_, title_, sequence_, to_, expect_, params_, setup_, turns_)                                          \
    {                                                                                                                  \
        .contract = {.key = key_,                                                                                      \
                     .title = title_,                                                                                  \
                     .sequence = sequence_,                                                                            \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before the call",                                                                \
                     .to = to_,                                                                                        \
                     .expect = expect_,                                                                                \
                     .params = params_,                                                                                \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, .client = 50,                                                                \
    }

const struct circle thread_circles[] = {
    // The run queue's cost does not depend on the priority; its two ends say so.
    YIELD(same, 1),
    YIELD(same, 99),
    YIELD(cross, 1),
    YIELD(cross, 99),
    BIRTH("thread.create_join", "Create a thread that returns at once, and join it",
          SEQUENCE("client: pthread_create", "client: blocks in pthread_join", "thread: starts, returns, ends",
                   "client: returns from pthread_join"),
          "client: after pthread_join", EXPECT(BORN_AND_GONE),
          PARAMS({"stack", "default, cached by the C library"}, {"priority", "equal"}), unlock_future_memory,
          create_joins),
    BIRTH("process.fork_wait", "Fork a process that exits at once, and wait for it",
          SEQUENCE("client: fork", "client: blocks in waitpid", "child: returns from fork, exits",
                   "client: returns from waitpid"),
          "client: after waitpid", EXPECT({"entries", 2}, BORN_AND_GONE),
          PARAMS({"image", "this harness"}, {"priority", "equal"}), unlock_future_memory, fork_waits),
    BIRTH("process.vfork_exec", "vfork, execute a static binary of one page that exits, and wait for it",
          SEQUENCE("client: blocks in vfork", "child: execveat", "child: exits in the new image",
                   "client: returns from vfork", "client: waitpid returns at once"),
          "client: after waitpid", EXPECT({"entries", 2}, BORN_AND_GONE),
          PARAMS({"image", "static, one page, in a memfd"}, {"priority", "equal"}), set_up_exec, vfork_execs),
    END_OF_FAMILY,
};
