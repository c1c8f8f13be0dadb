// SPDX-License-Identifier: BSD-2-Clause
//
// Threads and processes: yielding the CPU, creation and end.
//
// The kernel counts a yield's switch as involuntary, because the thread stays runnable. A thread or
// process that is created within a turn is not a participant of the visit, so its switches are
// counted in `cpu_switches` only.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract.h"
#include "exit_image.h"

static void serve_yield(const struct linux_circle *self)
{
    (void)self;
    for (;;)
        sched_yield();
}

static void set_up_yield(const struct linux_circle *self)
{
    peer_start(self, serve_yield);
}

static void yields(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        sched_yield();
}

// With future mappings locked, the kernel would populate every new stack and process at once, and
// the circle would time that.
static void unlock_future_memory(const struct linux_circle *self)
{
    (void)self;
    circle_unlock_future_memory();
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
        if (pthread_create(&thread, NULL, return_at_once, NULL) != 0 ||
            pthread_join(thread, NULL) != 0)
            circle_fail("pthread_create");
}

static void fork_waits(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        pid_t child = fork();
        // Not exit(): the parent owns what would be flushed.
        if (child == 0)
            _exit(0);
        must(waitpid(child, NULL, 0), "fork or waitpid");
    }
}

// The variant is the number of MiB that the process holds, all written, in pages of the usual size.
static void set_up_large(const struct linux_circle *self)
{
    size_t bytes = *(const size_t *)self->variant << 20;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    circle_unlock_future_memory();
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        circle_skip("there is no memory for a process of that size");
    memset(memory, 1, bytes);
}

static int image_fd;

static void set_up_exec(const struct linux_circle *self)
{
    image_fd = exit_image_open();
    if (image_fd < 0)
        circle_skip("this kernel refuses to execute a memfd (vm.memfd_noexec)");
    unlock_future_memory(self);
}

// Not inlined into the loop: the child would share the loop's variables.
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
        // The image exits with 0, and with 1 if it could not be executed.
        if (status != 0)
            circle_fail("execveat of a memfd");
    }
}

// The run queue's cost does not depend on the priority; its two ends show that.
#define YIELD(space_, priority_)                                                                \
    .sequence = CYC_SEQUENCE("client: sched_yield", "server: returns from sched_yield",         \
                             "server: sched_yield", "client: returns from sched_yield"),        \
    .from = "client: before sched_yield", .to = "client: after sched_yield",                    \
    .expect =                                                                                   \
        CYC_EXPECT({"entries", 2}, {"switches", 2}, {"space_switches", SPACE_SWITCHES(space_)}, \
                   {"wakeups", 0}, {"voluntary", 0}, {"involuntary", 1}, {"faults", 0}),        \
    .space = space_, .client = priority_, .server = priority_, .setup = set_up_yield,           \
    .needs_fifo = 1, .turns = yields

CIRCLE("thread.yield.same.fifo_1") = {
    .title = "sched_yield and back, same space, both SCHED_FIFO 1",
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"fifo", "1"}),
    YIELD(SAME_SPACE, 1),
};

CIRCLE("thread.yield.same.fifo_99") = {
    .title = "sched_yield and back, same space, both SCHED_FIFO 99",
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}, {"fifo", "99"}),
    YIELD(SAME_SPACE, 99),
};

CIRCLE("thread.yield.cross.fifo_1") = {
    .title = "sched_yield and back, cross space, both SCHED_FIFO 1",
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"fifo", "1"}),
    YIELD(CROSS_SPACE, 1),
};

CIRCLE("thread.yield.cross.fifo_99") = {
    .title = "sched_yield and back, cross space, both SCHED_FIFO 99",
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}, {"fifo", "99"}),
    YIELD(CROSS_SPACE, 99),
};

// The client blocks once and is switched to once; in between the CPU runs the new thread or
// process. The C library decides how many system calls pthread_create makes, so
// thread.create_join does not expect a number of entries.
#define BORN_AND_GONE {"switches", 1}, {"cpu_switches", 2}, {"voluntary", 1}, {"involuntary", 0}

CIRCLE("thread.create_join") = {
    .title = "Create a thread that returns at once, and join it",
    .sequence = CYC_SEQUENCE("client: pthread_create", "client: blocks in pthread_join",
                             "thread: starts, returns, ends", "client: returns from pthread_join"),
    .from = "client: before the call",
    .to = "client: after pthread_join",
    .expect = CYC_EXPECT(BORN_AND_GONE),
    .params = CYC_PARAMS({"stack", "default, cached by the C library"}, {"priority", "equal"}),
    .setup = unlock_future_memory,
    .turns = create_joins,
    .client = 50,
};

CIRCLE("process.fork_wait") = {
    .title = "Fork a process that exits at once, and wait for it",
    .sequence = CYC_SEQUENCE("client: fork", "client: blocks in waitpid",
                             "child: returns from fork, exits", "client: returns from waitpid"),
    .from = "client: before the call",
    .to = "client: after waitpid",
    .expect = CYC_EXPECT({"entries", 2}, BORN_AND_GONE),
    .params = CYC_PARAMS({"image", "this harness"}, {"priority", "equal"}),
    .setup = unlock_future_memory,
    .turns = fork_waits,
    .client = 50,
};

#define FORK_OF(mib)                                                                             \
    .sequence = CYC_SEQUENCE("client: fork", "client: blocks in waitpid",                        \
                             "child: returns from fork, exits", "client: returns from waitpid"), \
    .from = "client: before the call", .to = "client: after waitpid",                            \
    .expect = CYC_EXPECT({"entries", 2}, BORN_AND_GONE),                                         \
    .params = CYC_PARAMS({"mib", #mib}, {"priority", "equal"}), .setup = set_up_large,           \
    .turns = fork_waits, .client = 50, .variant = SIZE(mib)

CIRCLE("process.fork_wait.mib_1") = {
    .title = "Fork a process of 1 MiB that exits at once, and wait for it",
    FORK_OF(1),
};

CIRCLE("process.fork_wait.mib_8") = {
    .title = "Fork a process of 8 MiB that exits at once, and wait for it",
    FORK_OF(8),
};

CIRCLE("process.fork_wait.mib_32") = {
    .title = "Fork a process of 32 MiB that exits at once, and wait for it",
    FORK_OF(32),
};

CIRCLE("process.vfork_exec") = {
    .title = "vfork, execute a static binary of one page that exits, and wait for it",
    .sequence = CYC_SEQUENCE("client: blocks in vfork", "child: execveat",
                             "child: exits in the new image", "client: returns from vfork",
                             "client: waitpid returns at once"),
    .from = "client: before the call",
    .to = "client: after waitpid",
    .expect = CYC_EXPECT({"entries", 2}, BORN_AND_GONE),
    .params = CYC_PARAMS({"image", "static, one page, in a memfd"}, {"priority", "equal"}),
    .setup = set_up_exec,
    .turns = vfork_execs,
    .client = 50,
};
