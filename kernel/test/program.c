// SPDX-License-Identifier: BSD-2-Clause
//
// User programs, kind and hostile: the program gets its answer, an error, or its end; the kernel
// goes on.
#include "board.h"
#include "memlayout.h"
#include "riscv.h"
#include "smp.h"
#include "space.h"
#include "test.h"

#if CONFIG_USERSPACE
#define FUZZ_CALLS (CONFIG_SMP ? 20000 : 1000000) // the suite of two harts is run many times

extern const struct test program_tests[];

// Runs a program to its end, of two harts on the other one; returns the cause of the fault that
// ended it, or 0.
static uint64_t fate(enum program program, uint64_t argument)
{
    test_shared()[0] = argument;
    struct thread *t = test_program_created(program, RUNNER_PRIORITY + 1, NULL);
#if CONFIG_SMP
    CHECK_EQUAL(smp_place(t, 1), 0);
#endif
    thread_start(t);
    CHECK_EQUAL(thread_join(t, FOREVER), 0);
    CHECK_EQUAL(t->state, THREAD_DEAD);
    return t->fault;
}

static void calls_are_answered(void)
{
    CHECK_EQUAL(fate(PROGRAM_count_calls, 10), 0);
    CHECK_EQUAL(test_shared()[1], 10);
}

static void registers_are_kept(void)
{
    CHECK_EQUAL(fate(PROGRAM_keep_registers, 0), 0);
    CHECK_EQUAL(test_shared()[1], 1);
}

static void registers_tell_nothing_of_the_kernel(void)
{
    CHECK_EQUAL(fate(PROGRAM_see_cleared_registers, 0), 0);
    CHECK_EQUAL(test_shared()[1], 1);
}

static void forbidden_reads_end_the_program(void)
{
    static const uint64_t addresses[] = {
        0,        0xfff,       USER_TOP - 8,           USER_TOP,  DEVICE_OFFSET + UART_BASE,
        RAM_BASE, KERNEL_BASE, KERNEL_STACKS + 0x3ff8, 1ul << 38, 1ul << 63,
        ~7ul};
    for (unsigned i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        CHECK_EQUAL(fate(PROGRAM_touch_address, addresses[i]), CAUSE_LOAD_PAGE_FAULT);
        CHECK_EQUAL(test_shared()[1], 0);
    }
}

// Even a page table that says otherwise does not open the monitor.
static void monitor_is_closed_to_all(void)
{
    uint64_t address = USER_TOP - PAGE_BYTES;
    struct thread *t = test_program_created(PROGRAM_touch_address, RUNNER_PRIORITY + 1, NULL);
    CHECK_EQUAL(space_map(t->space, address, (void *)RAM_BASE, PTE_READ), 0);
    test_shared()[0] = address;
    thread_start(t);
    CHECK_EQUAL(t->fault, CAUSE_LOAD_ACCESS_FAULT);
    CHECK_EQUAL(test_shared()[1], 0);
}

static void forbidden_writes_end_the_program(void)
{
    CHECK_EQUAL(fate(PROGRAM_write_address, USER_BASE), CAUSE_STORE_PAGE_FAULT); // its own code
    CHECK_EQUAL(fate(PROGRAM_write_address, KERNEL_BASE), CAUSE_STORE_PAGE_FAULT);
    CHECK_EQUAL(fate(PROGRAM_write_address, (uint64_t)program_tests), CAUSE_STORE_PAGE_FAULT);
}

static void data_is_not_executed(void)
{
    CHECK_EQUAL(fate(PROGRAM_jump_to_address, USER_SHARED), CAUSE_FETCH_PAGE_FAULT);
    CHECK_EQUAL(fate(PROGRAM_jump_to_address, KERNEL_BASE), CAUSE_FETCH_PAGE_FAULT);
}

static void stack_overflow_ends_the_program(void)
{
    CHECK_EQUAL(fate(PROGRAM_overflow_stack, 0), CAUSE_STORE_PAGE_FAULT);
}

static void illegal_instruction_ends_the_program(void)
{
    CHECK_EQUAL(fate(PROGRAM_illegal_instruction, 0), CAUSE_ILLEGAL_INSTRUCTION);
}

static void bad_pointers_are_refused(void)
{
    static uint64_t of_the_kernel[COUNTERS_END];
    CHECK_EQUAL(fate(PROGRAM_bad_pointers, (uint64_t)of_the_kernel), 0);
    CHECK_EQUAL(test_shared()[1], 1);
    for (int i = 0; i < COUNTERS_END; i++)
        CHECK_EQUAL(of_the_kernel[i], 0);
}

// Among them the index that, unchecked, would find a table entry which the program has forged in
// its own memory.
static void bad_handles_are_refused(void)
{
    struct semaphore *s = test_object(OBJECT_semaphore, 0, 1);
    struct thread *t = test_program_created(PROGRAM_bad_handles, RUNNER_PRIORITY + 1, NULL);
    uint64_t forged =
        ((uint64_t)&test_shared()[2] - (uint64_t)t->space->handles) / sizeof(struct handle);
    test_shared()[0] = forged;
    test_shared()[2] = (uint64_t)s;
    test_shared()[3] = (uint64_t)s; // wherever the entry's halves fall
    thread_start(t);
    CHECK_EQUAL(t->fault, 0);
    CHECK_EQUAL(test_shared()[1], 1);
    CHECK_EQUAL(semaphore_take(s, 0), ERROR_BUSY);
}

#if !CONFIG_SMP // time goes on while a hart of QEMU is not run
static void spinning_program_is_preempted(void)
{
    struct thread *t = test_program(PROGRAM_spin, RUNNER_PRIORITY - 1, NULL);
    thread_sleep(1000);
    uint64_t seen = test_shared()[1];
    CHECK(seen > 0);
    thread_sleep(1000);
    CHECK(test_shared()[1] > seen);
    CHECK_EQUAL(test_shared()[2], 0);
    thread_abort(t);
}
#endif

static void aborted_in_a_call(void)
{
    struct object *objects[] = {test_object(OBJECT_semaphore, 0, 1), NULL};
    struct thread *t = test_program(PROGRAM_take_forever, RUNNER_PRIORITY + 1, objects);
    CHECK_EQUAL(t->state, THREAD_BLOCKED);
    thread_abort(t);
    semaphore_give((struct semaphore *)objects[0]);
    CHECK_EQUAL(test_shared()[1], 0);
}

static void heap_serves_a_program(void)
{
    CHECK_EQUAL(fate(PROGRAM_use_heap, 0), 0);
    CHECK_EQUAL(test_shared()[1], 1);
}

static void fuzzer_does_no_harm(void)
{
    struct object *objects[TEST_ONE_OF_EACH];
    test_one_of_each(objects);
    test_shared()[0] = FUZZ_CALLS;
    struct thread *t = test_program(PROGRAM_fuzz, RUNNER_PRIORITY - 1, objects);
    CHECK_EQUAL(thread_join(t, 1000000000), 0);
    CHECK_EQUAL(t->fault, 0);
    CHECK_EQUAL(test_shared()[1], FUZZ_CALLS);
}

static void spaces_do_not_see_each_other(void)
{
    CHECK_EQUAL(fate(PROGRAM_count_calls, 3), 0);
    CHECK_EQUAL(fate(PROGRAM_count_calls, 3), 0);
    CHECK_EQUAL(test_shared()[2], 1); // a counter in the program's own data, fresh in each space
}

#if CONFIG_ASID
static void identifiers_are_used_again(void)
{
    space_limit_identifiers(3);
    for (int i = 0; i < 10; i++)
        calls_are_answered();
    space_limit_identifiers(0);
}
#endif

const struct test program_tests[] = {
    {"calls are answered", calls_are_answered},
    {"a call keeps the registers it promises", registers_are_kept},
    {"a call's other registers tell nothing of the kernel", registers_tell_nothing_of_the_kernel},
    {"forbidden reads end the program", forbidden_reads_end_the_program},
    {"the monitor is closed to all", monitor_is_closed_to_all},
    {"forbidden writes end the program", forbidden_writes_end_the_program},
    {"data is not executed", data_is_not_executed},
    {"a stack overflow ends the program", stack_overflow_ends_the_program},
    {"an illegal instruction ends the program", illegal_instruction_ends_the_program},
    {"bad pointers are refused", bad_pointers_are_refused},
    {"bad handles are refused", bad_handles_are_refused},
#if !CONFIG_SMP
    {"a spinning program is preempted", spinning_program_is_preempted},
#endif
    {"a program can be aborted inside a call", aborted_in_a_call},
    {"spaces do not see each other", spaces_do_not_see_each_other},
#if CONFIG_ASID
    {"address-space identifiers are used again", identifiers_are_used_again},
#endif
    {"a heap serves a program", heap_serves_a_program},
    {"a system-call fuzzer does no harm", fuzzer_does_no_harm},
    END_OF_TESTS,
};
#endif
