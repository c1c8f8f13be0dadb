// SPDX-License-Identifier: BSD-2-Clause
//
// Memory: the C library's heap, mappings and their protection, and what a fault costs.
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
    const struct circle *self = arg;
    size_t size = (size_t)self->size;
    CYC_SHORT_TURNS(turns, {
        void *block = malloc(size);
        __asm__ volatile("" : "+r"(block)::"memory"); // a pair that nobody looks at would be left out
        free(block);
    })
}

// A row's `size` is its pages. Locked memory would be populated behind the circle's back.
static void set_up_pages(const struct circle *self)
{
    mlockall(MCL_CURRENT);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    length = (size_t)self->size * page_bytes;
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

static void set_up_region(const struct circle *self)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); // 512 pages are to be 512 pages
    set_up_pages(self);
    region = map();
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
        *(volatile char *)region = 1;
        must(madvise(region, length, MADV_DONTNEED), "madvise");
    }
}

// A store that may fault, and where the handler lets the program go on: behind the store.
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
    PROGRAM_COUNTER((ucontext_t *)context) = (__typeof__(PROGRAM_COUNTER((ucontext_t *)context)))cyc_store_done;
    outcomes->handled++;
}

static void set_up_segv(const struct circle *self)
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

#define MALLOC(bytes_)                                                                                                 \
    SHORT("memory.malloc_free.bytes_" #bytes_, "malloc and free of " #bytes_ " bytes", "malloc, free",                 \
         EXPECT_ENTRIES(0), NULL, mallocs, bytes_)
#define MAP(pages_)                                                                                                    \
    SOLO("memory.map_unmap.pages_" #pages_, "mmap of " #pages_ " pages, not touched, and munmap", "mmap, munmap",      \
         EXPECT_ENTRIES(2), set_up_pages, maps, pages_)
#define PROTECT(pages_)                                                                                                \
    SOLO("memory.protect.pages_" #pages_, "mprotect of " #pages_ " resident pages to read-only and back",              \
         "mprotect x 2", EXPECT_ENTRIES(2), set_up_region, protects, pages_)

const struct circle memory_circles[] = {
    MALLOC(10),
    MALLOC(64),
    MALLOC(4096),
    MAP(1),
    MAP(512),
    MAP(2048),
    PROTECT(1),
    PROTECT(512),
    {.contract = {.key = "fault.minor",
                  .title = "Minor fault on an absent page, which madvise then drops again",
                  .sequence = SEQUENCE("client: store faults", "kernel: maps a zeroed page", "client: store completes",
                                       "client: madvise(MADV_DONTNEED)"),
                  .interval = "round_trip",
                  .from = "client: before the store",
                  .to = "client: after madvise",
                  .expect = EXPECT({"entries", 1}, {"switches", 0}, {"faults", 1}),
                  .correction = "none"},
     .setup = set_up_region, .turns = minor_faults, .client = 50, .size = 1},
    {.contract = {.key = "fault.segv_handler",
                  .title = "Forbidden store, SIGSEGV handled, and return behind the store",
                  .sequence = SEQUENCE("client: store faults", "client: handler runs", "client: rt_sigreturn"),
                  .interval = "round_trip",
                  .from = "client: before the store",
                  .to = "client: behind the store",
                  .expect = EXPECT({"entries", 1}, {"switches", 0}, {"handled", 1}, {"faults", 0}),
                  .correction = "none"},
     .setup = set_up_segv, .turns = segv_faults, .client = 50, .size = 1},
    END_OF_FAMILY,
};
