// SPDX-License-Identifier: BSD-2-Clause
//
// What one CPU makes another one do: memory barriers, shootdowns of translations, signals to a
// thread that runs there, and moving over. The other thread runs all the time, so that the kernel
// has to interrupt it.
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract.h"
#include "spin.h"

#define PAGE_BYTES 4096

// How often the client called; the server sleeps if that stays the same.
static struct shared {
    _Alignas(128) _Atomic uint64_t calls;
    _Alignas(128) _Atomic uint64_t handled;
} *shared;

static void serve_busy(const struct linux_circle *self)
{
    (void)self;
    for (;;) {
        uint64_t seen = atomic_load_explicit(&shared->calls, memory_order_relaxed);
        SPIN_UNTIL(atomic_load_explicit(&shared->calls, memory_order_relaxed) != seen)
    }
}

static inline void called(void)
{
    uint64_t calls = atomic_load_explicit(&shared->calls, memory_order_relaxed);
    atomic_store_explicit(&shared->calls, calls + 1, memory_order_relaxed);
}

static void set_up_busy(const struct linux_circle *self)
{
    shared = shared_alloc(sizeof *shared);
    peer_start(self, serve_busy);
}

static void set_up_membarrier(const struct linux_circle *self)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        circle_skip("this kernel has no expedited membarrier; it came with Linux 4.14");
    set_up_busy(self);
}

static void membarriers(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        must(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0), "membarrier");
        called();
    }
}

static volatile char *page;

static void set_up_page(const struct linux_circle *self)
{
    void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        circle_fail("mmap");
    page = memory;
    set_up_busy(self);
}

// Taking a right away must reach the other CPU before the call returns; giving it back need not.
static void protections(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        must(mprotect((void *)(uintptr_t)page, PAGE_BYTES, PROT_READ), "mprotect");
        must(mprotect((void *)(uintptr_t)page, PAGE_BYTES, PROT_READ | PROT_WRITE), "mprotect");
        *page = 1;
        called();
    }
}

static void unmappings(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        void *memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (__builtin_expect(memory == MAP_FAILED, 0))
            circle_fail("mmap");
        must(munmap(memory, PAGE_BYTES), "munmap");
        called();
    }
}

static pid_t process, target;

static void handle(int number)
{
    (void)number;
    atomic_fetch_add_explicit(&shared->handled, 1, memory_order_release);
}

static void set_up_signal(const struct linux_circle *self)
{
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    must(sigaction(SIGUSR1, &action, NULL), "sigaction");
    shared = shared_alloc(sizeof *shared);
    target = peer_start(self, serve_busy);
    process = getpid();
}

static void signals(void *arg, uint64_t turns)
{
    (void)arg;
    uint64_t handled = atomic_load_explicit(&shared->handled, memory_order_relaxed);
    for (; turns > 0; turns--) {
        must(syscall(SYS_tgkill, process, target, SIGUSR1), "tgkill");
        handled++;
        SPIN_UNTIL(atomic_load_explicit(&shared->handled, memory_order_acquire) == handled)
        called();
    }
}

// A server that runs all the time in the client's space: `what` interrupts it.
#define INTERRUPTING(what, entries)                                                         \
    .sequence = CYC_SEQUENCE("client: " what, "server: is interrupted", "client: returns"), \
    .from = "client: before " what, .to = "client: after " what,                            \
    .expect = CYC_EXPECT({"entries", entries}, {"switches", 0}, {"elsewhere", 0}),          \
    .placement = OTHER_CPU, .spins = 1, .client = 50, .server = 50

CIRCLE("membarrier.expedited.other_cpu") = {
    .title = "Expedited memory barrier on all CPUs of a process whose other thread runs",
    INTERRUPTING("membarrier", 1),
    .setup = set_up_membarrier,
    .turns = membarriers,
};

CIRCLE("memory.shootdown.mprotect.other_cpu") = {
    .title = "A touched page made read-only and writable again while another CPU is in the space",
    INTERRUPTING("mprotect, mprotect, store", 2),
    .setup = set_up_page,
    .turns = protections,
};

CIRCLE("memory.shootdown.munmap.other_cpu") = {
    .title = "A page mapped, filled and unmapped while another CPU is in the space",
    INTERRUPTING("mmap, munmap", 2),
    .setup = set_up_busy,
    .turns = unmappings,
};

CIRCLE("signal.to_running.other_cpu") = {
    .title = "Signal to a thread that runs on another CPU, until its handler has run",
    .sequence = CYC_SEQUENCE("client: tgkill", "server: is interrupted", "server: runs handler",
                             "client: sees that it ran"),
    .from = "client: before tgkill",
    .to = "client: after it sees that the handler ran",
    // tgkill, and the handler's sigreturn
    .expect = CYC_EXPECT({"switches", 0}, {"faults", 0}, {"elsewhere", 0}),
    .at_least = CYC_EXPECT({"entries", 1}),
    .placement = OTHER_CPU,
    .spins = 1,
    .client = 50,
    .server = 50,
    .setup = set_up_signal,
    .turns = signals,
};
