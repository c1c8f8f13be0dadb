// SPDX-License-Identifier: BSD-2-Clause
//
// Switches in user mode: the coroutines of core/, by the bare switch and by their library, and the
// C library's ucontext.
#define _GNU_SOURCE
#include <cyc/coroutine.h>

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

static void set_up_bare(const struct linux_circle *self)
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

static void set_up_library(const struct linux_circle *self)
{
    (void)self;
    // The client is the root; a yield switches to the other one and back.
    cyc_coroutines_init(&set);
    must(cyc_coroutine_spawn(&set, &other, stack, sizeof stack, yield_back, NULL),
         "cyc_coroutine_spawn");
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

static void set_up_ucontext(const struct linux_circle *self)
{
    (void)self;
    must(getcontext(&other_context), "getcontext");
    // uc_link stays NULL: swap_back() never returns.
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

#define THERE_AND_BACK(what)                                                               \
    .sequence = CYC_SEQUENCE("client: " what, "other: returns from " what, "other: " what, \
                             "client: returns from " what),                                \
    .from = "client: before " what, .to = "client: after " what, .client = 50

CIRCLE("coroutine.switch") = {
    .title = "Bare coroutine switch and back",
    THERE_AND_BACK("switch"),
    .expect = ENTRIES(0),
    .params = CYC_PARAMS({"space", "same"}, {"level", "user"}),
    .setup = set_up_bare,
    .turns = bare_switches,
};

CIRCLE("coroutine.yield") = {
    .title = "Yield to another coroutine through the ready queue, and back",
    THERE_AND_BACK("yield"),
    .expect = ENTRIES(0),
    .params = CYC_PARAMS({"space", "same"}, {"level", "user"}),
    .setup = set_up_library,
    .turns = library_yields,
};

CIRCLE("ucontext.switch") = {
    .title = "swapcontext and back; each sets the signal mask by a system call",
    THERE_AND_BACK("swapcontext"),
    .expect = ENTRIES(2),
    .params = CYC_PARAMS({"space", "same"}, {"level", "user"}),
    .setup = set_up_ucontext,
    .turns = ucontext_swaps,
};
