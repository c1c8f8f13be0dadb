// SPDX-License-Identifier: BSD-2-Clause
//
// Memory: the C library's heap, mappings and their protection, and page faults.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include "contract.h"

static size_t page_bytes, length;
static char *region;

static void mallocs(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    size_t size = *(const size_t *)self->variant;
    CYC_SHORT_TURNS(turns, {
        void *block = malloc(size);
        __asm__ volatile("" : "+r"(block)::"memory"); // else the compiler would remove the pair
        free(block);
    })
}

// The variant is the number of pages. Future mappings must not be locked: locked pages are never
// absent.
static void set_up_pages(const struct linux_circle *self)
{
    circle_unlock_future_memory();
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    length = *(const size_t *)self->variant * page_bytes;
}

static inline char *map(void)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        circle_fail("mmap");
    return memory;
}

static void maps(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        must(munmap(map(), length), "munmap");
}

static void set_up_region(const struct linux_circle *self)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); // no huge page in place of 512 small ones
    set_up_pages(self);
    region = map();
    // Present from the beginning, so that only faults of the circle are counted.
    for (size_t i = 0; i < length; i += page_bytes)
        region[i] = 1;
}

static void protects(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        must(mprotect(region, length, PROT_READ), "mprotect");
        must(mprotect(region, length, PROT_READ | PROT_WRITE), "mprotect");
    }
}

static void minor_faults(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        // The page was dropped in the turn before.
        *(volatile char *)region = 1;
        must(madvise(region, length, MADV_DONTNEED), "madvise");
    }
}

// A store that may fault. The handler continues the program behind it.
void cyc_store(void *address);
extern const char cyc_store_done[];
#if defined(__x86_64__)
#define STORE "movb $0, (%rdi)"
#define PROGRAM_COUNTER(context) (context)->uc_mcontext.gregs[REG_RIP]
#elif defined(__aarch64__)
#define STORE "strb wzr, [x0]"
#define PROGRAM_COUNTER(context) (context)->uc_mcontext.pc
#elif defined(__riscv)
#define STORE "sb zero, 0(a0)"
#define PROGRAM_COUNTER(context) (context)->uc_mcontext.__gregs[REG_PC]
#else
#error "no faulting store for this architecture; add one to linux/circles/memory.c"
#endif
__asm__(".pushsection .text\n"
        ".globl cyc_store, cyc_store_done\n"
        "cyc_store: " STORE "\n"
        "cyc_store_done: ret\n"
        ".popsection\n");

static void skip_store(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    PROGRAM_COUNTER((ucontext_t *)context) =
        (__typeof__(PROGRAM_COUNTER((ucontext_t *)context)))cyc_store_done;
    outcomes->handled++;
}

static void set_up_segv(const struct linux_circle *self)
{
    struct sigaction action = {.sa_sigaction = skip_store, .sa_flags = SA_SIGINFO};
    set_up_region(self);
    must(mprotect(region, length, PROT_NONE), "mprotect");
    must(sigaction(SIGSEGV, &action, NULL), "sigaction");
}

static void segv_faults(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        cyc_store(region);
}

CIRCLE("memory.malloc_free.bytes_10") = {
    .title = "malloc and free of 10 bytes",
    ALONE("malloc, free"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .turns = mallocs,
    .variant = &(const size_t){10},
};

CIRCLE("memory.malloc_free.bytes_64") = {
    .title = "malloc and free of 64 bytes",
    ALONE("malloc, free"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .turns = mallocs,
    .variant = &(const size_t){64},
};

CIRCLE("memory.malloc_free.bytes_4096") = {
    .title = "malloc and free of 4096 bytes",
    ALONE("malloc, free"),
    .expect = ENTRIES(0),
    .params = SHORT_LOOP,
    .turns = mallocs,
    .variant = &(const size_t){4096},
};

CIRCLE("memory.map_unmap.pages_1") = {
    .title = "mmap of 1 pages, not touched, and munmap",
    ALONE("mmap, munmap"),
    .expect = ENTRIES(2),
    .setup = set_up_pages,
    .turns = maps,
    .variant = &(const size_t){1},
};

CIRCLE("memory.map_unmap.pages_512") = {
    .title = "mmap of 512 pages, not touched, and munmap",
    ALONE("mmap, munmap"),
    .expect = ENTRIES(2),
    .setup = set_up_pages,
    .turns = maps,
    .variant = &(const size_t){512},
};

CIRCLE("memory.map_unmap.pages_2048") = {
    .title = "mmap of 2048 pages, not touched, and munmap",
    ALONE("mmap, munmap"),
    .expect = ENTRIES(2),
    .setup = set_up_pages,
    .turns = maps,
    .variant = &(const size_t){2048},
};

CIRCLE("memory.protect.pages_1") = {
    .title = "mprotect of 1 resident pages to read-only and back",
    ALONE("mprotect x 2"),
    .expect = ENTRIES(2),
    .setup = set_up_region,
    .turns = protects,
    .variant = &(const size_t){1},
};

CIRCLE("memory.protect.pages_512") = {
    .title = "mprotect of 512 resident pages to read-only and back",
    ALONE("mprotect x 2"),
    .expect = ENTRIES(2),
    .setup = set_up_region,
    .turns = protects,
    .variant = &(const size_t){512},
};

CIRCLE("fault.minor") = {
    .title = "Minor fault on an absent page, which madvise then drops again",
    .sequence = CYC_SEQUENCE("client: store faults", "kernel: maps a zeroed page",
                             "client: store completes", "client: madvise(MADV_DONTNEED)"),
    .from = "client: before the store",
    .to = "client: after madvise",
    .expect = CYC_EXPECT({"entries", 1}, {"switches", 0}, {"faults", 1}),
    .setup = set_up_region,
    .turns = minor_faults,
    .client = 50,
    .variant = &(const size_t){1},
};

CIRCLE("fault.segv_handler") = {
    .title = "Forbidden store, SIGSEGV handled, and return behind the store",
    .sequence = CYC_SEQUENCE("client: store faults", "client: handler runs",
                             "client: rt_sigreturn"),
    .from = "client: before the store",
    .to = "client: behind the store",
    .expect = CYC_EXPECT({"entries", 1}, {"switches", 0}, {"handled", 1}, {"faults", 0}),
    .setup = set_up_segv,
    .turns = segv_faults,
    .client = 50,
    .variant = &(const size_t){1},
};
