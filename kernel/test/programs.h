// SPDX-License-Identifier: BSD-2-Clause
//
// The user programs of the tests: one line each; program_<name>(shared) in test/user does it.
#ifndef PROGRAMS_H
#define PROGRAMS_H

#define PROGRAMS(PROGRAM)                                                                                              \
    PROGRAM(count_calls)                                                                                               \
    PROGRAM(touch_address)                                                                                             \
    PROGRAM(write_address)                                                                                             \
    PROGRAM(jump_to_address)                                                                                           \
    PROGRAM(overflow_stack)                                                                                            \
    PROGRAM(illegal_instruction)                                                                                       \
    PROGRAM(bad_pointers)                                                                                              \
    PROGRAM(bad_handles)                                                                                               \
    PROGRAM(keep_registers)                                                                                            \
    PROGRAM(see_cleared_registers)                                                                                     \
    PROGRAM(spin)                                                                                                      \
    PROGRAM(take_forever)                                                                                              \
    PROGRAM(call_server)                                                                                               \
    PROGRAM(fuzz)

enum program {
#define PROGRAM(name) PROGRAM_##name,
    PROGRAMS(PROGRAM)
#undef PROGRAM
        PROGRAMS_END
};

#endif
