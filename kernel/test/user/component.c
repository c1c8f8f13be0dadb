// SPDX-License-Identifier: BSD-2-Clause
//
// The tests' programs about components and protection domains. Handles: 1 and 2 components, 3 a
// semaphore, SPARE a further thread.
#include "memlayout.h"
#include "test/programs.h"
#include "user/component.h"
#include "user/domain.h"

#define COMPONENT(n) ((struct component *)(n))
#define SHARED ((shared_words *)USER_SHARED)

static void open(uint64_t handle, void (*entry)(void))
{
    component_open(COMPONENT(handle), (uint64_t)entry, (uint64_t)entry);
}

static uint64_t weigh(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return a + 10 * b + 100 * c + 1000 * d;
}
COMPONENT_ENTRY(weigh_entry, weigh)

void program_open_weigher(shared_words *shared)
{
    (void)shared;
    open(1, weigh_entry);
}

void program_invoke_weigher(shared_words *shared)
{
    shared[1] = (uint64_t)component_invoke(COMPONENT(1), 4, 3, 2, 1);
}

void program_open_and_invoke_weigher(shared_words *shared)
{
    open(1, weigh_entry);
    program_invoke_weigher(shared);
}

void program_misuse_capabilities(shared_words *shared)
{
    uint64_t refused = 1;
    refused &= component_invoke(COMPONENT(1), 0, 0, 0, 0) == ERROR_ABORTED; // not open
    refused &= component_invoke(COMPONENT(3), 0, 0, 0, 0) == ERROR_HANDLE;  // a semaphore
    refused &= component_invoke(COMPONENT(HANDLES_MAX), 0, 0, 0, 0) == ERROR_HANDLE;
    refused &= component_invoke(COMPONENT(~0ul), 0, 0, 0, 0) == ERROR_HANDLE;
    refused &= component_return(0) == ERROR_DENIED; // from no invocation
    open(1, weigh_entry);
    refused &= component_open(COMPONENT(1), 0, 0) == ERROR_BUSY;
    shared[1] = refused;
}

// Each component invokes the other one until the kernel refuses; returns how deep that was. The
// words on the stack must still be there on the way back.
static uint64_t descend(uint64_t depth, uint64_t other)
{
    volatile uint64_t mine[4];
    for (int i = 0; i < 4; i++)
        mine[i] = depth * 4 + (uint64_t)i;
    int64_t deeper = component_invoke(COMPONENT(other), depth + 1, 3 - other, 0, 0);
    for (int i = 0; i < 4; i++)
        if (mine[i] != depth * 4 + (uint64_t)i)
            SHARED[2] = 1;
    return deeper == ERROR_DENIED ? depth : (uint64_t)deeper;
}
COMPONENT_ENTRY(descend_entry, descend)

void program_open_first(shared_words *shared)
{
    (void)shared;
    open(1, descend_entry);
}

void program_descend(shared_words *shared)
{
    open(2, descend_entry);
    shared[1] = (uint64_t)component_invoke(COMPONENT(2), 1, 1, 0, 0);
}

static uint64_t die(void)
{
    return *(volatile uint64_t *)KERNEL_BASE;
}
COMPONENT_ENTRY(die_entry, die)

void program_open_mortal(shared_words *shared)
{
    (void)shared;
    open(1, die_entry);
}

static uint64_t wait_inside(void)
{
    return (uint64_t)semaphore_take((struct semaphore *)3, FOREVER) + 42;
}
COMPONENT_ENTRY(wait_entry, wait_inside)

void program_open_waiting(shared_words *shared)
{
    (void)shared;
    open(1, wait_entry);
}

static uint64_t spin_inside(void)
{
    uint64_t rounds = 0;
    while (SHARED[0] == 0)
        rounds++;
    return rounds;
}
COMPONENT_ENTRY(spin_entry, spin_inside)

void program_open_spinning(shared_words *shared)
{
    (void)shared;
    open(1, spin_entry);
}

// Leaves nothing but a7 and sp as it was.
static __attribute__((naked, used)) void spoil_registers(void)
{
    __asm__ volatile("li gp, 1\n\t"
                     "li tp, 2\n\t"
                     "li ra, 3\n\t"
                     ".irp r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11\n\t"
                     "li \\r, 4\n\t"
                     ".endr\n\t"
                     "li sp, 5\n\t"
                     "li a7, %0\n\t"
                     "ecall" ::"i"(CALL_component_return));
}

static uint64_t near_gp;

void program_invoke_spoiler(shared_words *shared)
{
    uint64_t *buffer = message_buffer();
    open(1, spoil_registers);
    for (uint64_t i = 0; i < 3; i++) {
        component_invoke(COMPONENT(1), 0, 0, 0, 0);
        near_gp++;
    }
    shared[1] = near_gp == 3 && message_buffer() == buffer;
}

static uint64_t note_upcall(uint64_t type, uint64_t a, uint64_t b, uint64_t c)
{
    SHARED[2] = type;
    SHARED[3] = a;
    SHARED[4] += 1 + b + c;
    return 0;
}
COMPONENT_ENTRY(note_entry, note_upcall)

// All of the second thread's doings are upcalls.
void program_upcall(shared_words *shared)
{
    struct thread *spare = (struct thread *)SPARE;
    open(1, note_entry);
    uint64_t right = component_upcall(COMPONENT(1), spare, 77) == ERROR_BUSY; // not created
    thread_create(spare, (uint64_t)note_entry, 0, 0);
    right &= component_upcall(COMPONENT(2), spare, 77) == ERROR_ABORTED; // not open
    right &= component_upcall(COMPONENT(1), (struct thread *)3, 77) == ERROR_HANDLE;
    right &=
        component_upcall(COMPONENT(1), (struct thread *)0, 77) == ERROR_BUSY; // the caller itself
    for (int i = 0; i < 3; i++)
        right &= component_upcall(COMPONENT(1), spare, 77) == 0;
    shared[1] = right;
}

void program_upcall_that_dies(shared_words *shared)
{
    open(1, die_entry);
    thread_create((struct thread *)SPARE, (uint64_t)die_entry, 0, 0);
    component_upcall(COMPONENT(1), (struct thread *)SPARE, 0);
    shared[1] = 1;
}

// A protection domain. Handles: 1 its endpoint, 2 and 3 both its notification.
static void note_channel(unsigned channel)
{
    SHARED[1] = SHARED[1] * 10 + channel;
}

static uint64_t note_call(unsigned channel, uint64_t words, struct message *message)
{
    note_channel(channel);
    for (uint64_t i = 0; i < words; i++)
        message->word[i] *= 2;
    return words;
}

void program_serve_channels(shared_words *shared)
{
    struct domain domain = {
        .input = (struct endpoint *)1, .notified = note_channel, .protected = note_call};
    (void)shared;
    domain_run(&domain);
}

void program_use_channels(shared_words *shared)
{
    struct message m = {.word = {11, 22}};
    domain_notify(3);
    domain_notify(2);
    shared[2] = (uint64_t)domain_call(1, 2, &m);
    shared[3] = m.word[0] + m.word[1];
    domain_notify(3);
}
