// SPDX-License-Identifier: BSD-2-Clause
//
// Signals: to oneself, to another thread or process and back, and taken without a handler.
// System calls are made directly where the C library adds others: raise() masks signals, sigqueue() asks
// for process and user.
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

static void start_server(const struct circle *self, void (*body)(const struct circle *self))
{
    know_client();
    server_thread = peer_start(self, body);
    server_process = self->space == SAME_SPACE ? client_process : server_thread;
}

static void handle(int number)
{
    (void)number;
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

static void set_up_handler(const struct circle *self)
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

// Both sides block SIGUSR1 except while they wait in sigsuspend, so that no signal comes too early.
static sigset_t open_mask;

static void serve_signals(const struct circle *self)
{
    (void)self;
    for (;;) {
        sigsuspend(&open_mask);
        must(syscall(SYS_tgkill, client_process, client_thread, SIGUSR1), "tgkill");
    }
}

static void set_up_peer(const struct circle *self)
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

static sigset_t requests, replies; // one real-time signal each

static inline void send(pid_t process, int number)
{
    static siginfo_t info = {.si_code = SI_QUEUE};
    must(syscall(SYS_rt_sigqueueinfo, process, number, &info), "rt_sigqueueinfo");
}

static void set_up_own_queue(const struct circle *self)
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

static void serve_queue(const struct circle *self)
{
    siginfo_t info;
    (void)self;
    for (;;) {
        must(sigwaitinfo(&requests, &info), "sigwaitinfo");
        send(client_process, SIGRTMIN + 1);
    }
}

static void set_up_queue(const struct circle *self)
{
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

static void set_up_signalfd(const struct circle *self)
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

#define SELF(key_, title_, first, second, third, to_, handled_, setup_, turns_)                                        \
    {                                                                                                                  \
        .contract = {.key = key_,                                                                                      \
                     .title = title_,                                                                                  \
                     .sequence = SEQUENCE("client: " first, "client: " second, "client: " third),                      \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before " first,                                                                  \
                     .to = to_,                                                                                        \
                     .expect = EXPECT({"entries", 2}, {"switches", 0}, {"handled", handled_}, {"faults", 0}),          \
                     .params = PARAMS({"space", "same"}),                                                              \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, .client = 50,                                                                \
    }
#define BY_HANDLER(key_, title_, call, turns_)                                                                         \
    SELF(key_, title_, call, "handler runs in the call's return", "rt_sigreturn", "client: after " call, 1,            \
         set_up_handler, turns_)

// A handler's return is an entry of its own: tgkill, sigsuspend and rt_sigreturn on each side.
#define TO_PEER(key_, title_, space_)                                                                                  \
    {                                                                                                                  \
        .contract = {.key = "signal." key_,                                                                            \
                     .title = title_,                                                                                  \
                     .sequence = SEQUENCE("client: tgkill", "client: blocks in sigsuspend", "server: handler runs",    \
                                          "server: returns from sigsuspend", "server: tgkill",                         \
                                          "server: blocks in sigsuspend", "client: handler runs",                      \
                                          "client: returns from sigsuspend"),                                          \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before tgkill",                                                                  \
                     .to = "client: after sigsuspend",                                                                 \
                     .expect = EXPECT({"entries", 6}, {"switches", 2},                                                 \
                                      {"space_switches", SPACE_SWITCHES_##space_}, {"wakeups", 2}, {"voluntary", 1},   \
                                      {"involuntary", 0}, {"handled", 2}, {"faults", 0}),                              \
                     .params = PARAMS({"space", #space_}, {"priority", "equal"}),                                      \
                     .correction = "none"},                                                                            \
        .setup = set_up_peer, .turns = signals_there_and_back, PLACED(space_, equal),                                  \
    }
#define QUEUED(space_)                                                                                                 \
    {                                                                                                                  \
        .contract = {.key = "signal.queue_wait." #space_ ".equal",                                                     \
                     .title = "Queued signal taken by sigwaitinfo, and one back, " WORDS_##space_,                     \
                     .sequence = ROUND_TRIP_equal("rt_sigqueueinfo", "sigwaitinfo"),                                   \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before rt_sigqueueinfo",                                                         \
                     .to = "client: after sigwaitinfo",                                                                \
                     .expect = EXPECT_ROUND_TRIP(4, space_, equal),                                                    \
                     .params = PARAMS({"space", #space_}, {"priority", "equal"}),                                      \
                     .correction = "none"},                                                                            \
        .setup = set_up_queue, .turns = queue_round_trips, PLACED(space_, equal),                                      \
    }

const struct circle signal_circles[] = {
    BY_HANDLER("signal.self.kill", "Signal to oneself by kill, handled", "kill", kills),
    BY_HANDLER("signal.self.tgkill", "Signal to oneself by tgkill, handled", "tgkill", tgkills),
    TO_PEER("to_thread", "Signal to another thread, handled there, and one back", same),
    TO_PEER("to_process", "Signal to another process, handled there, and one back", cross),
    SELF("signal.queue_wait.self", "Queued signal to oneself, taken by sigwaitinfo", "rt_sigqueueinfo",
         "signal stays pending", "sigwaitinfo returns at once", "client: after sigwaitinfo", 0, set_up_own_queue,
         queue_waits),
    QUEUED(same),
    QUEUED(cross),
    SELF("signalfd.read", "Signal to oneself, read from a signalfd", "kill", "signal stays pending",
         "read returns at once", "client: after read", 0, set_up_signalfd, signalfd_reads),
    END_OF_FAMILY,
};
