// SPDX-License-Identifier: BSD-2-Clause
//
// The user programs of the tests: one line each; program_<name>(shared) in test/user does it.
#ifndef PROGRAMS_H
#define PROGRAMS_H

#define PROGRAMS(PROGRAM)          \
    PROGRAM(count_calls)           \
    PROGRAM(touch_address)         \
    PROGRAM(write_address)         \
    PROGRAM(jump_to_address)       \
    PROGRAM(overflow_stack)        \
    PROGRAM(illegal_instruction)   \
    PROGRAM(bad_pointers)          \
    PROGRAM(bad_handles)           \
    PROGRAM(keep_registers)        \
    PROGRAM(see_cleared_registers) \
    PROGRAM(spin)                  \
    PROGRAM(take_forever)          \
    PROGRAM(call_server)           \
    PROGRAM(await_word)            \
    PROGRAM(use_heap)              \
    PROGRAM(fuzz)

// Those of test/user/component.c and brand.c.
#define COMPONENT_PROGRAMS(PROGRAM)  \
    PROGRAM(open_weigher)            \
    PROGRAM(invoke_weigher)          \
    PROGRAM(open_and_invoke_weigher) \
    PROGRAM(misuse_capabilities)     \
    PROGRAM(open_first)              \
    PROGRAM(descend)                 \
    PROGRAM(open_mortal)             \
    PROGRAM(open_waiting)            \
    PROGRAM(open_spinning)           \
    PROGRAM(invoke_spoiler)          \
    PROGRAM(upcall)                  \
    PROGRAM(serve_channels)          \
    PROGRAM(use_channels)            \
    PROGRAM(upcall_that_dies)        \
    PROGRAM(pend)                    \
    PROGRAM(raise_urgent)            \
    PROGRAM(raise_urgent_then_less)  \
    PROGRAM(raise_less_urgent)       \
    PROGRAM(decide_between)          \
    PROGRAM(decide_for_third)        \
    PROGRAM(raise_at_end)            \
    PROGRAM(raise_mortal)            \
    PROGRAM(two_levels)              \
    PROGRAM(be_interrupted)          \
    PROGRAM(misuse_scheduler)        \
    PROGRAM(yield)                   \
    PROGRAM(block_and_wake)          \
    PROGRAM(long_section)            \
    PROGRAM(share_lock)              \
    PROGRAM(fuzz_components)         \
    PROGRAM(account)

// Handle of a further thread of the program's space, where a test gives it one, and others behind.
#define SPARE 16

enum program {
#define PROGRAM(name) PROGRAM_##name,
    PROGRAMS(PROGRAM) COMPONENT_PROGRAMS(PROGRAM)
#undef PROGRAM
        PROGRAMS_END
};

#ifdef USER_PROGRAM
#include <stdint.h>

// shared[0] is the test's argument, shared[1] the program's answer, or more of them.
typedef volatile uint64_t shared_words;

#define PROGRAM(name) void program_##name(shared_words *shared);
COMPONENT_PROGRAMS(PROGRAM)
#undef PROGRAM
#endif

#endif
