// SPDX-License-Identifier: BSD-2-Clause
//
// User-level switches: our own coroutines, bare and through their library, and the C library's ucontext.
#define _GNU_SOURCE
#include "../../core/coroutine.h"

#include <ucontext.h>

#include "contract.h"

#define STACK_BYTES 16384

static _Alignas(16) uint8_t stack[STACK_BYTES];
static void *main_place, *other_place;
static struct cyc_coroutines set;
static struct cyc_coroutine other;
static ucontext_t main_context, other_context;

static void switch_back(void *arg)
{
    (void)arg;
    for (;;)
        cyc_coroutine_switch(&other_place, main_place);
}

static void set_up_bare(const struct circle *self)
{
    (void)self;
    other_place = cyc_coroutine_place(stack, sizeof stack, switch_back, NULL);
}

static void bare_switches(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        cyc_coroutine_switch(&main_place, other_place);
}

static void yield_back(void *arg)
{
    (void)arg;
    for (;;)
        cyc_coroutine_yield(&set);
}

static void set_up_library(const struct circle *self)
{
    (void)self;
    cyc_coroutines_init(&set);
    must(cyc_coroutine_spawn(&set, &other, stack, sizeof stack, yield_back, NULL), "cyc_coroutine_spawn");
}

static void library_yields(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        cyc_coroutine_yield(&set);
}

static void swap_back(void)
{
    for (;;)
        swapcontext(&other_context, &main_context);
}

static void set_up_ucontext(const struct circle *self)
{
    (void)self;
    must(getcontext(&other_context), "getcontext");
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = sizeof stack;
    makecontext(&other_context, swap_back, 0);
}

static void ucontext_swaps(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        swapcontext(&main_context, &other_context);
}

#define COROUTINE(key_, title_, what_, entries_, setup_, turns_)                                                       \
    {                                                                                                                  \
        .contract = {.key = key_,                                                                                      \
                     .title = title_,                                                                                  \
                     .sequence = SEQUENCE("client: " what_, "other: returns from " what_, "other: " what_,             \
                                          "client: returns from " what_),                                              \
                     .interval = "round_trip",                                                                         \
                     .from = "client: before " what_,                                                                  \
                     .to = "client: after " what_,                                                                     \
                     .expect = EXPECT_ENTRIES(entries_),                                                               \
                     .params = PARAMS({"space", "same"}, {"level", "user"}),                                           \
                     .correction = "none"},                                                                            \
        .setup = setup_, .turns = turns_, .client = 50,                                                                \
    }

const struct circle coroutine_circles[] = {
    COROUTINE("coroutine.switch", "Bare coroutine switch and back", "switch", 0, set_up_bare, bare_switches),
    COROUTINE("coroutine.yield", "Yield to another coroutine through the ready queue, and back", "yield", 0,
              set_up_library, library_yields),
    COROUTINE("ucontext.switch", "swapcontext and back; each sets the signal mask by a system call", "swapcontext", 2,
              set_up_ucontext, ucontext_swaps),
    END_OF_FAMILY,
};
