// SPDX-License-Identifier: BSD-2-Clause
//
// The user programs of the tests. shared[0] is the test's argument, shared[1] the program's answer.
#include "heap.h"
#include "memlayout.h"
#include "syscall.h"
#include "test/programs.h"

#define KERNEL_POINTERS \
    {(void *)KERNEL_BASE, (void *)KERNEL_STACKS, (void *)(USER_TOP - 4), (void *)~7ul, NULL}

static uint64_t own_counter;

static void program_count_calls(shared_words *shared)
{
    for (uint64_t i = 0; i < shared[0]; i++)
        shared[1] = i + 1 + (uint64_t)null();
    shared[2] = ++own_counter;
}

static void program_touch_address(shared_words *shared)
{
    shared[1] = *(volatile uint64_t *)shared[0];
    shared[1] = 1;
}

static void program_write_address(shared_words *shared)
{
    *(volatile uint64_t *)shared[0] = 0;
}

static void program_jump_to_address(shared_words *shared)
{
    ((void (*)(void))shared[0])();
}

static uint64_t descend(shared_words *shared, uint64_t depth)
{
    volatile uint64_t room[64];
    room[depth % 64] = depth;
    return depth < 1000000 ? descend(shared, depth + 1) + room[depth % 64] : depth;
}

static void program_overflow_stack(shared_words *shared)
{
    shared[1] = descend(shared, 0);
}

static void program_illegal_instruction(shared_words *shared)
{
    (void)shared;
    __asm__ volatile("csrr t0, sstatus" ::: "t0");
}

static void program_bad_pointers(shared_words *shared)
{
    void *const pointers[] = KERNEL_POINTERS;
    uint64_t refused = 1;
    for (unsigned i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        refused &= counters_read(pointers[i]) == ERROR_ARGUMENT;
        refused &= console_write(pointers[i], 8) == ERROR_ARGUMENT;
    }
    refused &= counters_read((int64_t *)shared[0]) == ERROR_ARGUMENT; // writable, but the kernel's
    refused &= console_write((const char *)shared[0], 8) == ERROR_ARGUMENT;
    refused &=
        counters_read((int64_t *)USER_BASE) == ERROR_ARGUMENT; // its own code, not to be written
    refused &=
        console_write((const char *)USER_SHARED, ~0ul) == ERROR_ARGUMENT; // wraps round the end
    shared[1] = refused;
}

static void program_bad_handles(shared_words *shared)
{
    static const uint64_t handles[] = {1, 2, 31, 32, 1000, ~0ul, KERNEL_BASE};
    uint64_t refused = 1;
    for (unsigned i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        refused &= semaphore_give((struct semaphore *)handles[i]) == ERROR_HANDLE;
        refused &= thread_abort((struct thread *)handles[i]) == ERROR_HANDLE;
    }
    refused &= semaphore_give((struct semaphore *)0) == ERROR_HANDLE; // a thread's
    refused &= semaphore_give((struct semaphore *)shared[0]) == ERROR_HANDLE;
    shared[1] = refused;
}

// Fills what a call must keep, makes one, and compares.
static void program_keep_registers(shared_words *shared)
{
    uint64_t changed;
    __asm__ volatile("mv t0, sp\n\t"
                     "addi sp, sp, -48\n\t"
                     "sd gp, 0(sp)\n\t"
                     "sd tp, 8(sp)\n\t"
                     "sd ra, 16(sp)\n\t"
                     "sd t0, 24(sp)\n\t"
                     "li gp, 1001\n\t"
                     "li tp, 1002\n\t"
                     "li ra, 1003\n\t"
                     "li s2, 1004\n\t"
                     "li s11, 1005\n\t"
                     "mv s3, sp\n\t"
                     "li a7, %1\n\t"
                     "ecall\n\t"
                     "addi t0, gp, -1001\n\t"
                     "addi t1, tp, -1002\n\t"
                     "or t0, t0, t1\n\t"
                     "addi t1, ra, -1003\n\t"
                     "or t0, t0, t1\n\t"
                     "addi t1, s2, -1004\n\t"
                     "or t0, t0, t1\n\t"
                     "addi t1, s11, -1005\n\t"
                     "or t0, t0, t1\n\t"
                     "sub t1, s3, sp\n\t"
                     "or t0, t0, t1\n\t"
                     "ld gp, 0(sp)\n\t"
                     "ld tp, 8(sp)\n\t"
                     "ld ra, 16(sp)\n\t"
                     "addi sp, sp, 48\n\t"
                     "mv %0, t0"
                     : "=r"(changed)
                     : "i"(CALL_thread_yield)
                     : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5",
                       "a6", "a7", "s2", "s3", "s11", "memory");
    shared[1] = changed == 0;
}

static void program_see_cleared_registers(shared_words *shared)
{
    uint64_t seen;
    __asm__ volatile("li a7, %1\n\t"
                     "mv a1, a7\n\t"
                     "mv a2, a7\n\t"
                     "mv a3, a7\n\t"
                     "mv a4, a7\n\t"
                     "mv a5, a7\n\t"
                     "mv a6, a7\n\t"
                     "mv t0, a7\n\t"
                     "mv t1, a7\n\t"
                     "mv t2, a7\n\t"
                     "mv t3, a7\n\t"
                     "mv t4, a7\n\t"
                     "mv t5, a7\n\t"
                     "mv t6, a7\n\t"
                     "ecall\n\t"
                     "or a0, a1, a2\n\t"
                     "or a0, a0, a3\n\t"
                     "or a0, a0, a4\n\t"
                     "or a0, a0, a5\n\t"
                     "or a0, a0, a6\n\t"
                     "or a0, a0, a7\n\t"
                     "or a0, a0, t0\n\t"
                     "or a0, a0, t1\n\t"
                     "or a0, a0, t2\n\t"
                     "or a0, a0, t3\n\t"
                     "or a0, a0, t4\n\t"
                     "or a0, a0, t5\n\t"
                     "or a0, a0, t6\n\t"
                     "mv %0, a0"
                     : "=r"(seen)
                     : "i"(CALL_thread_yield)
                     : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5",
                       "a6", "a7", "memory");
    shared[1] = seen == 0;
}

// Counts for ever, with every caller-saved register in use across the interrupts that will come.
static void program_spin(shared_words *shared)
{
    for (;;) {
        uint64_t a = shared[1], b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6,
                 h = a + 7;
        __asm__ volatile(""
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
        if (b - a != 1 || c - a != 2 || d - a != 3 || e - a != 4 || f - a != 5 || g - a != 6 ||
            h - a != 7)
            shared[2] = 1;
        shared[1] = b;
    }
}

static void program_take_forever(shared_words *shared)
{
    semaphore_take((struct semaphore *)1, FOREVER);
    shared[1] = 1;
}

// Looks at an address, counting, until it holds 1.
static void program_await_word(shared_words *shared)
{
    while (*(volatile uint64_t *)shared[0] != 1)
        shared[1]++;
    shared[2] = 1;
}

// Calls handle 2 with ten words 1, 2, 3...; answers with what came back.
static void program_call_server(shared_words *shared)
{
    struct message m = {{1, 2, 3, 4}, 0};
    for (uint64_t i = 5; i <= 10; i++)
        message_buffer()[i - 5] = i;
    shared[1] = (uint64_t)endpoint_call((struct endpoint *)2, 10, &m);
    shared[2] = m.word[0];
    shared[3] = message_buffer()[0];
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// A value that is likely to be interesting: small, an address of something, or anything.
static uint64_t random_argument(uint64_t *state)
{
    static const uint64_t interesting[] = {0,
                                           1,
                                           2,
                                           3,
                                           4,
                                           5,
                                           6,
                                           USER_BASE,
                                           USER_SHARED,
                                           USER_STACKS,
                                           USER_TOP - 8,
                                           KERNEL_BASE,
                                           KERNEL_STACKS,
                                           1ul << 63,
                                           ~0ul,
                                           0xfff};
    uint64_t choice = next_random(state);
    if (choice % 4 == 0)
        return next_random(state);
    return interesting[choice / 4 % (sizeof interesting / sizeof interesting[0])];
}

// Calls that would end or stop this thread for good, or fill the console, are left to programs of
// their own. With handles that name nothing they are all made. A heap in the program's own memory,
// filled, freed and filled again.
static void program_use_heap(shared_words *shared)
{
    static struct heap heap;
    static uint64_t page[PAGE_BYTES / sizeof(uint64_t)];
    void *blocks[100];
    uint64_t largest_bytes = heap_largest_bytes();
    heap_add(&heap, page);
    for (uint64_t i = 0; i < 100; i++)
        blocks[i] = heap_take(&heap, i % 30);
    for (uint64_t i = 0; i < 100; i++)
        if (blocks[i] != NULL)
            heap_give(&heap, blocks[i]);
    shared[1] = blocks[99] != NULL && heap_take(&heap, largest_bytes) != NULL &&
                heap_take(&heap, 1) == NULL;
}

static int fuzz_spares(uint64_t number, uint64_t handle)
{
    if (number >= CALL_semaphore_give && handle > 6)
        return 0;
    return number == CALL_console_write || number == CALL_thread_exit ||
           number == CALL_thread_suspend || number == CALL_thread_abort ||
           number == CALL_thread_sleep || number == CALL_thread_join ||
           number == CALL_endpoint_call || number == CALL_endpoint_reply_receive ||
           number == CALL_endpoint_receive || number == CALL_endpoint_send ||
           number == CALL_notification_wait;
}

static void program_fuzz(shared_words *shared)
{
    uint64_t state = 0x2545f4914f6cdd1d, calls = shared[0],
             made = 0; // a call may write to the shared page
    for (; made < calls; made++) {
        register uint64_t a7 __asm__("a7") = next_random(&state) % (CALLS_END + 4);
        register uint64_t a0 __asm__("a0") = random_argument(&state);
        register uint64_t a1 __asm__("a1") = random_argument(&state);
        register uint64_t a2 __asm__("a2") = random_argument(&state);
        register uint64_t a3 __asm__("a3") = random_argument(&state);
        if (a7 == CALL_semaphore_take || a7 == CALL_mutex_lock || a7 == CALL_queue_get ||
            a7 == CALL_stack_pop)
            a1 = 0; // nobody else would give
        a2 = a7 == CALL_condvar_wait ? 0 : a2;
        a3 = a7 == CALL_events_wait || a7 == CALL_events_wait_all ? 0 : a3;
        if (!fuzz_spares(a7, a0))
            __asm__ volatile("ecall"
                             : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a7)
                             :
                             : "a4", "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6",
                               "memory");
    }
    shared[1] = made;
}

void program_main(uint64_t program)
{
    static void (*const programs[])(shared_words *) = {
#define PROGRAM(name) [PROGRAM_##name] = program_##name,
        PROGRAMS(PROGRAM) COMPONENT_PROGRAMS(PROGRAM)
#undef PROGRAM
    };
    if (program < PROGRAMS_END)
        programs[program]((shared_words *)USER_SHARED);
}

_Noreturn void program_exit(void)
{
    for (;;)
        thread_exit();
}
