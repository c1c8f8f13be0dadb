// SPDX-License-Identifier: BSD-2-Clause
//
// The hardware's floor, after Composite: what no kernel can be cheaper than. A bounce is from S
// mode to U mode and back.
#include "bench/kernel_circle.h"

#ifndef USER_PROGRAM
#include "page_alloc.h"
#include "riscv.h"
#include "space.h"
#include "timeout.h"

static void timer_turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        (void)time_ticks();
}

#if CONFIG_USERSPACE
#define BOUNCE_PAGE (USER_TOP - PAGE_BYTES)
#define ECALL_INSTRUCTION 0x73

static struct space *space;

// A program of one instruction.
static void make_program(struct bench_shared *shared)
{
    uint32_t *code = page_alloc();
    space = space_create(shared);
    if (code == NULL || space == NULL ||
        space_map(space, BOUNCE_PAGE, code, PTE_READ | PTE_EXECUTE | PTE_OWNED) != 0)
        panic("no memory for the program to bounce to");
    code[0] = ECALL_INSTRUCTION;
    __asm__ volatile("fence.i" ::: "memory"); // instructions are fetched past the store buffer
    space_load(space);
    fence_page(BOUNCE_PAGE); // a hart may remember that the page was missing
}

static void drop_program(struct bench_shared *shared)
{
    (void)shared;
    space_destroy(space);
}

#define CROSSING(name)                                                       \
    void crossing_##name(uint64_t turns, uint64_t user_page, uint64_t satp); \
    static void name##_turns(void *arg, uint64_t turns)                      \
    {                                                                        \
        (void)arg;                                                           \
        crossing_##name(turns, BOUNCE_PAGE, HERE(space_loaded)->satp);       \
    }
CROSSING(one)
CROSSING(two)
CROSSING(two_satp_1)
CROSSING(two_satp_1_flush)
CROSSING(two_satp_2)
CROSSING(two_satp_2_flush)
#endif
#endif

#define BOUNCES(ending, what, function)                    \
    {.contract = {.key = "hardware.crossing." ending,      \
                  .title = what,                           \
                  .sequence = SEQUENCE(NULL),              \
                  .interval = "round_trip",                \
                  .from = "client: before sret",           \
                  .to = "client: after the trap by ecall", \
                  .correction = "none"},                   \
     .sides = KERNEL_ALONE,                                \
     .naming = BY_NOTHING,                                 \
     .turns = IN_KERNEL(function),                         \
     .client_priority = 10,                                \
     .setup = IN_KERNEL(make_program),                     \
     .teardown = IN_KERNEL(drop_program)}

const struct circle hardware_circles[] = {
#if CONFIG_USERSPACE
    BOUNCES("one", "Protection-level crossing: one bounce", one_turns),
    BOUNCES("two", "Two protection-level bounces", two_turns),
    BOUNCES("two.satp_1", "Two bounces, the page-table register written once", two_satp_1_turns),
    BOUNCES("two.satp_1.flush",
            "Two bounces, the page-table register written and the TLB flushed once",
            two_satp_1_flush_turns),
    BOUNCES("two.satp_2", "Two bounces, the page-table register written on both ways",
            two_satp_2_turns),
    BOUNCES("two.satp_2.flush",
            "Two bounces, the page-table register written and the TLB flushed on both ways",
            two_satp_2_flush_turns),
#endif
    {.contract = {.key = "timer.read",
                  .title = "Reading of the time by the kernel: rdtime or mtime, as configured",
                  .sequence = SEQUENCE(NULL),
                  .interval = "round_trip",
                  .from = "client: before the reading",
                  .to = "client: after the reading",
                  .expect = EXPECT({"time_reads", 1}),
                  .correction = "none"},
     .sides = KERNEL_ALONE,
     .naming = BY_MODE,
     .turns = IN_KERNEL(timer_turns),
     .client_priority = 10},
    END_OF_FAMILY,
};
