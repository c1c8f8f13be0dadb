// SPDX-License-Identifier: BSD-2-Clause
//
// Signals: to oneself, to another thread or process and back, and taken without a handler. These
// circles make system calls directly if the C library would add others: raise() masks signals, and
// sigqueue() calls getpid and getuid.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract.h"

static pid_t client_process, client_thread, server_process, server_thread;

static void know_client(void)
{
    client_process = getpid();
    client_thread = (pid_t)syscall(SYS_gettid);
}

static void start_server(const struct linux_circle *self,
                         void (*body)(const struct linux_circle *self))
{
    know_client();
    server_thread = peer_start(self, body);
    // tgkill takes the process and the thread; the main thread of a process has the same number.
    server_process = self->space == SAME_SPACE ? client_process : server_thread;
}

static void handle(int number)
{
    (void)number;
    // Both sides count into one place; a handler runs after the other side's is done.
    outcomes->handled++;
}

static void install(int number)
{
    struct sigaction action = {.sa_handler = handle};
    must(sigaction(number, &action, NULL), "sigaction");
}

static sigset_t block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    must(sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
    return set;
}

static void set_up_handler(const struct linux_circle *self)
{
    (void)self;
    know_client();
    install(SIGUSR1);
}

static void kills(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        kill(client_process, SIGUSR1);
}

static void tgkills(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        syscall(SYS_tgkill, client_process, client_thread, SIGUSR1);
}

// Both sides block SIGUSR1 except in sigsuspend, so that no signal arrives too early.
static sigset_t open_mask;

static void serve_signals(const struct linux_circle *self)
{
    (void)self;
    for (;;) {
        // Opens the mask and waits in one step.
        sigsuspend(&open_mask);
        must(syscall(SYS_tgkill, client_process, client_thread, SIGUSR1), "tgkill");
    }
}

static void set_up_peer(const struct linux_circle *self)
{
    install(SIGUSR1);
    block(SIGUSR1);
    sigemptyset(&open_mask);
    start_server(self, serve_signals);
}

static void signals_there_and_back(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        must(syscall(SYS_tgkill, server_process, server_thread, SIGUSR1), "tgkill");
        sigsuspend(&open_mask);
    }
}

static sigset_t requests, replies; // one real-time signal in each

static inline void send(pid_t process, int number)
{
    static siginfo_t info = {.si_code = SI_QUEUE};
    must(syscall(SYS_rt_sigqueueinfo, process, number, &info), "rt_sigqueueinfo");
}

static void set_up_own_queue(const struct linux_circle *self)
{
    (void)self;
    know_client();
    requests = block(SIGRTMIN);
}

static void queue_waits(void *arg, uint64_t turns)
{
    siginfo_t info;
    (void)arg;
    for (; turns > 0; turns--) {
        send(client_process, SIGRTMIN);
        must(sigwaitinfo(&requests, &info), "sigwaitinfo");
    }
}

static void serve_queue(const struct linux_circle *self)
{
    siginfo_t info;
    (void)self;
    for (;;) {
        must(sigwaitinfo(&requests, &info), "sigwaitinfo");
        send(client_process, SIGRTMIN + 1);
    }
}

static void set_up_queue(const struct linux_circle *self)
{
    // Blocked before the server starts, which inherits the mask.
    requests = block(SIGRTMIN);
    replies = block(SIGRTMIN + 1);
    start_server(self, serve_queue);
}

static void queue_round_trips(void *arg, uint64_t turns)
{
    siginfo_t info;
    (void)arg;
    for (; turns > 0; turns--) {
        send(server_process, SIGRTMIN);
        must(sigwaitinfo(&replies, &info), "sigwaitinfo");
    }
}

static int fd;

static void set_up_signalfd(const struct linux_circle *self)
{
    sigset_t set = block(SIGUSR1);
    (void)self;
    know_client();
    fd = (int)must(signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
}

static void signalfd_reads(void *arg, uint64_t turns)
{
    struct signalfd_siginfo info;
    (void)arg;
    for (; turns > 0; turns--) {
        kill(client_process, SIGUSR1);
        must(read(fd, &info, sizeof info), "read");
    }
}

#define BY_HANDLER(call)                                                                   \
    .sequence = CYC_SEQUENCE("client: " call, "client: handler runs in the call's return", \
                             "client: rt_sigreturn"),                                      \
    .from = "client: before " call, .to = "client: after " call,                           \
    .expect = CYC_EXPECT({"entries", 2}, {"switches", 0}, {"handled", 1}, {"faults", 0}),  \
    .client = 50

#define PENDING(call, take)                                                               \
    .sequence = CYC_SEQUENCE("client: " call, "client: signal stays pending",             \
                             "client: " take " returns at once"),                         \
    .from = "client: before " call, .to = "client: after " take,                          \
    .expect = CYC_EXPECT({"entries", 2}, {"switches", 0}, {"handled", 0}, {"faults", 0}), \
    .client = 50

// A handler's return is an entry too: tgkill, sigsuspend and rt_sigreturn on each side.
#define TO_PEER(space_)                                                                         \
    .sequence = CYC_SEQUENCE("client: tgkill", "client: blocks in sigsuspend",                  \
                             "server: handler runs", "server: returns from sigsuspend",         \
                             "server: tgkill", "server: blocks in sigsuspend",                  \
                             "client: handler runs", "client: returns from sigsuspend"),        \
    .from = "client: before tgkill", .to = "client: after sigsuspend",                          \
    .expect = CYC_EXPECT({"entries", 6}, {"switches", 2},                                       \
                         {"space_switches", SPACE_SWITCHES(space_)}, {"wakeups", 2},            \
                         {"voluntary", 1}, {"involuntary", 0}, {"handled", 2}, {"faults", 0}),  \
    .space = space_, .client = 50, .server = 50, .setup = set_up_peer,                          \
    .turns = signals_there_and_back, .elsewhere = &(const struct elsewhere)                     \
    {                                                                                           \
        .expect = CYC_EXPECT({"entries", 6}, {"handled", 2}, {"involuntary", 0}, {"faults", 0}, \
                             {"elsewhere", 0})                                                  \
    }

CIRCLE("signal.self.kill") = {
    .title = "Signal to oneself by kill, handled",
    BY_HANDLER("kill"),
    .params = CYC_PARAMS({"space", "same"}),
    .setup = set_up_handler,
    .turns = kills,
};

CIRCLE("signal.self.tgkill") = {
    .title = "Signal to oneself by tgkill, handled",
    BY_HANDLER("tgkill"),
    .params = CYC_PARAMS({"space", "same"}),
    .setup = set_up_handler,
    .turns = tgkills,
};

CIRCLE("signal.to_thread") = {
    .title = "Signal to another thread, handled there, and one back",
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}),
    TO_PEER(SAME_SPACE),
};

CIRCLE("signal.to_process") = {
    .title = "Signal to another process, handled there, and one back",
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}),
    TO_PEER(CROSS_SPACE),
};

CIRCLE("signal.queue_wait.self") = {
    .title = "Queued signal to oneself, taken by sigwaitinfo",
    PENDING("rt_sigqueueinfo", "sigwaitinfo"),
    .params = CYC_PARAMS({"space", "same"}),
    .setup = set_up_own_queue,
    .turns = queue_waits,
};

CIRCLE("signal.queue_wait.same.equal") = {
    .title = "Queued signal taken by sigwaitinfo, and one back, same space",
    ROUND_TRIP_EQUAL("rt_sigqueueinfo", "sigwaitinfo"),
    .params = CYC_PARAMS({"space", "same"}, {"priority", "equal"}),
    EQUAL(4, SAME_SPACE),
    .setup = set_up_queue,
    .turns = queue_round_trips,
};

CIRCLE("signal.queue_wait.cross.equal") = {
    .title = "Queued signal taken by sigwaitinfo, and one back, cross space",
    ROUND_TRIP_EQUAL("rt_sigqueueinfo", "sigwaitinfo"),
    .params = CYC_PARAMS({"space", "cross"}, {"priority", "equal"}),
    EQUAL(4, CROSS_SPACE),
    .setup = set_up_queue,
    .turns = queue_round_trips,
};

CIRCLE("signalfd.read") = {
    .title = "Signal to oneself, read from a signalfd",
    PENDING("kill", "read"),
    .params = CYC_PARAMS({"space", "same"}),
    .setup = set_up_signalfd,
    .turns = signalfd_reads,
};
