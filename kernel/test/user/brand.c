// SPDX-License-Identifier: BSD-2-Clause
//
// The tests' programs about brands and user-level scheduling. Each is a scheduler, a component and
// its client in one.
#include "memlayout.h"
#include "test/programs.h"
#include <cyc/clock.h>

#include "user/fixed_priority.h"
#include "user/lock.h"

// Handles.
#define SCHEDULER ((struct user_scheduler *)1)
#define SCHEDULER_COMPONENT ((struct component *)2)
#define COMPONENT ((struct component *)3)
#define BRAND ((struct brand *)4)
#define CHILD ((struct user_scheduler *)5) // of level 1
#define UPCALL ((struct thread *)SPARE)
#define NOTIFIER ((struct thread *)(SPARE + 1))
#define THIRD ((struct thread *)(SPARE + 2))

enum slot { NOBODY, CLIENT, OTHER, NOTIFIED, THIRD_SLOT, FREE };
#define CLIENT_URGENCY 5
#define MORE_URGENT 1
#define LESS_URGENT 10

#define SHARED ((shared_words *)USER_SHARED)
#define PAGE(level) ((struct scheduler_page *)(USER_SCHEDULERS + (level) * PAGE_BYTES))

static void switch_to(uint64_t slot)
{
    PAGE(0)->next = slot;
    scheduler_switch(SCHEDULER, SWITCH_PLAIN);
}

// Notes the order of events as digits.
static void mark(uint64_t digit)
{
    SHARED[1] = SHARED[1] * 10 + digit;
}

COMPONENT_ENTRY(scheduler_entry, fixed_priority_upcall)

// The client is the running thread; the other one is created to begin at `entry`, and parked.
static void start_scheduling(uint64_t other_urgency, int other_runs, void (*entry)(void))
{
    fixed_priority_start(SCHEDULER, 0);
    scheduler_join(SCHEDULER, CLIENT);
    thread_create(UPCALL, (uint64_t)entry, 0, 0);
    scheduler_adopt(SCHEDULER, UPCALL, OTHER);
    fixed_priority_add(CLIENT, CLIENT_URGENCY, 1);
    fixed_priority_add(OTHER, other_urgency, other_runs);
}

// The other thread runs the upcalls of the brand, at `entry`.
static void start_brand(uint64_t urgency, void (*entry)(void), void (*upcalls_of_scheduler)(void))
{
    start_scheduling(urgency, 0, entry);
    thread_create(NOTIFIER, (uint64_t)entry, 0, 0);
    scheduler_adopt(SCHEDULER, NOTIFIER, NOTIFIED);
    component_open(SCHEDULER_COMPONENT, 0, (uint64_t)upcalls_of_scheduler);
    scheduler_attend(SCHEDULER, SCHEDULER_COMPONENT, NOTIFIER);
    component_open(COMPONENT, 0, (uint64_t)entry);
    brand_bind(BRAND, UPCALL, 0);
}

// The first upcall has the arguments of the raise, those that were pending have none.
static uint64_t gather(uint64_t type, uint64_t a, uint64_t b)
{
    if (SHARED[2]++ == 0)
        SHARED[3] = a * 100 + b;
    else
        SHARED[4] |= a | b;
    SHARED[5] |= type != UPCALL_BRAND;
    return 0;
}
COMPONENT_ENTRY(gather_entry, gather)

void program_pend(shared_words *shared)
{
    start_brand(LESS_URGENT, gather_entry, scheduler_entry);
    brand_upcall(BRAND, 7, 8);
    for (uint64_t i = 0; i < shared[0]; i++)
        brand_upcall(BRAND, 9, 9);
    shared[6] = shared[2]; // none has run so far
    shared[7] = PAGE(0)->event[OTHER].flags;
    switch_to(OTHER);
    shared[8] = PAGE(0)->event[OTHER].flags;
    shared[1] = 1;
}

static uint64_t mark_upcall(void)
{
    mark(2);
    return 0;
}
COMPONENT_ENTRY(mark_entry, mark_upcall)

void program_raise_urgent(shared_words *shared)
{
    (void)shared;
    start_brand(MORE_URGENT, mark_entry, scheduler_entry);
    mark(1);
    brand_upcall(BRAND, 0, 0);
    mark(3);
}

void program_raise_less_urgent(shared_words *shared)
{
    (void)shared;
    start_brand(LESS_URGENT, mark_entry, scheduler_entry);
    mark(1);
    brand_upcall(BRAND, 0, 0);
    mark(3);
    switch_to(OTHER);
    mark(4);
}

// First urgent, with a direct return; then less urgent, with a scheduler's decision for the same
// client.
void program_raise_urgent_then_less(shared_words *shared)
{
    program_raise_urgent(shared);
    PAGE(0)->event[OTHER].urgency = LESS_URGENT;
    brand_upcall(BRAND, 0, 0);
    switch_to(OTHER);
    mark(4);
}

// The upcall lets the client run before its end: a decision, after which there is no direct return.
static uint64_t give_way(void)
{
    mark(2);
    switch_to(CLIENT);
    mark(4);
    return 0;
}
COMPONENT_ENTRY(give_way_entry, give_way)

void program_decide_between(shared_words *shared)
{
    (void)shared;
    start_brand(MORE_URGENT, give_way_entry, scheduler_entry);
    mark(1);
    brand_upcall(BRAND, 0, 0);
    mark(3);
    switch_to(OTHER);
    mark(5);
}

static void third_thread(void)
{
    mark(3);
    switch_to(OTHER);
}
COMPONENT_ENTRY(third_entry, third_thread)

// The upcall lets a third thread run: a decision too, though nobody has run on whom it interrupted.
static uint64_t run_third(void)
{
    mark(2);
    switch_to(THIRD_SLOT);
    mark(4);
    return 0;
}
COMPONENT_ENTRY(run_third_entry, run_third)

void program_decide_for_third(shared_words *shared)
{
    (void)shared;
    start_brand(MORE_URGENT, run_third_entry, scheduler_entry);
    thread_create(THIRD, (uint64_t)third_entry, 0, 0);
    scheduler_adopt(SCHEDULER, THIRD, THIRD_SLOT);
    mark(1);
    brand_upcall(BRAND, 0, 0);
    mark(5);
}

// Raises the brand once more, from the scheduler, when it learns that the upcall is done.
static uint64_t raise_at_end(uint64_t type, uint64_t self)
{
    static int raised;
    if (type == UPCALL_BRAND_COMPLETE && !raised) {
        raised = 1;
        brand_upcall(BRAND, 0, 0);
    }
    return fixed_priority_upcall(type, self);
}
COMPONENT_ENTRY(raise_at_end_entry, raise_at_end)

void program_raise_at_end(shared_words *shared)
{
    (void)shared;
    start_brand(LESS_URGENT, mark_entry, raise_at_end_entry);
    mark(1);
    brand_upcall(BRAND, 0, 0);
    switch_to(OTHER);
    mark(3);
}

static uint64_t die(void)
{
    return *(volatile uint64_t *)KERNEL_BASE;
}
COMPONENT_ENTRY(die_entry, die)

void program_raise_mortal(shared_words *shared)
{
    start_brand(MORE_URGENT, die_entry, scheduler_entry);
    brand_upcall(BRAND, 0, 0);
    shared[1] = brand_upcall(BRAND, 0, 0) == ERROR_ABORTED;
}

// shared[0]: whether the upcall thread has the child scheduler too, in whose eyes it is the more
// urgent one.
void program_two_levels(shared_words *shared)
{
    start_brand(LESS_URGENT, mark_entry, scheduler_entry);
    scheduler_map(CHILD);
    scheduler_join(CHILD, CLIENT);
    if (shared[0])
        scheduler_adopt(CHILD, UPCALL, OTHER);
    PAGE(1)->event[CLIENT].urgency = CLIENT_URGENCY;
    PAGE(1)->event[OTHER].urgency = MORE_URGENT;
    mark(1);
    brand_upcall(BRAND, 0, 0);
    mark(3);
}

// Waits for interrupts, which raise the brand. shared[0]: the upcall lets the scheduler decide for
// the client.
static uint64_t count_upcall(void)
{
    SHARED[2]++;
    if (SHARED[0])
        switch_to(CLIENT);
    return 0;
}
COMPONENT_ENTRY(count_entry, count_upcall)

void program_be_interrupted(shared_words *shared)
{
    start_brand(MORE_URGENT, count_entry, scheduler_entry);
    while (shared[3] == 0)
        shared[1]++;
}

static void other_thread(void)
{
    for (;;) {
        mark(2);
        switch_to(CLIENT);
    }
}
COMPONENT_ENTRY(other_entry, other_thread)

void program_misuse_scheduler(shared_words *shared)
{
    uint64_t refused =
        scheduler_switch(SCHEDULER, SWITCH_PLAIN) == ERROR_DENIED;  // not one of its threads
    refused &= scheduler_join(SCHEDULER, CLIENT) == ERROR_ARGUMENT; // no page
    start_scheduling(CLIENT_URGENCY, 1, other_entry);
    refused &= scheduler_join(SCHEDULER, CLIENT) == ERROR_BUSY;
    refused &= scheduler_join(CHILD, SCHEDULED_MAX) == ERROR_ARGUMENT;
    refused &= scheduler_adopt(SCHEDULER, UPCALL, OTHER) == ERROR_BUSY;
    refused &= brand_bind(BRAND, UPCALL, 0) == ERROR_DENIED; // from no component
    refused &= scheduler_switch(SCHEDULER, SWITCH_TAIL) == ERROR_ARGUMENT;
    const uint64_t slots[] = {NOBODY, FREE, SCHEDULED_MAX - 1, SCHEDULED_MAX, 1ul << 32, ~0ul};
    for (unsigned i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        PAGE(0)->next = slots[i];
        refused &= scheduler_switch(SCHEDULER, SWITCH_PLAIN) == ERROR_ARGUMENT;
    }
    PAGE(0)->next = OTHER;
    refused &= scheduler_switch(SCHEDULER, SWITCH_TAIL) == ERROR_DENIED; // not in an upcall
    refused &= scheduler_switch(SCHEDULER, SWITCH_LOCK_PASS) == ERROR_DENIED;
    PAGE(0)->next = CLIENT;
    refused &= scheduler_switch(SCHEDULER, SWITCH_PLAIN) == 0; // to itself
    mark(1);
    switch_to(OTHER);
    mark(3);
    shared[2] = refused;
}

static void yielding_other(void)
{
    for (;;) {
        mark(2);
        fixed_priority_yield(OTHER);
    }
}
COMPONENT_ENTRY(yielding_entry, yielding_other)

void program_yield(shared_words *shared)
{
    (void)shared;
    start_scheduling(CLIENT_URGENCY, 1, yielding_entry);
    for (int i = 0; i < 3; i++) {
        mark(1);
        fixed_priority_yield(CLIENT);
    }
}

static void blocking_other(void)
{
    mark(2);
    fixed_priority_wake(OTHER, CLIENT);
    mark(3); // a wake does not switch
    fixed_priority_block(OTHER);
    mark(5);
    fixed_priority_wake(OTHER, CLIENT);
    fixed_priority_block(OTHER);
}
COMPONENT_ENTRY(blocking_entry, blocking_other)

void program_block_and_wake(shared_words *shared)
{
    (void)shared;
    start_scheduling(LESS_URGENT, 1, blocking_entry);
    mark(1);
    fixed_priority_yield(CLIENT); // the other is less urgent: nothing happens
    fixed_priority_block(CLIENT);
    mark(4);
    fixed_priority_wake(CLIENT, OTHER);
    fixed_priority_block(CLIENT);
    mark(6);
}

// A section that lasts until shared[3] is set: every interrupt finds it half-way. Counts its starts
// in shared[1] and its ends in shared[2].
void long_section(shared_words *shared, struct scheduler_section *section);
__asm__(".text\n"
        ".globl long_section\n"
        "long_section:\n\t"
        "lla t0, 1f\n\t"
        "sd t0, 0(a1)\n\t"
        "lla t0, 3f\n\t"
        "sd t0, 8(a1)\n"
        "1: ld t0, 8(a0)\n\t"
        "addi t0, t0, 1\n\t"
        "sd t0, 8(a0)\n\t"
        "ld t2, 16(a0)\n\t"
        "addi t2, t2, 1\n"
        "2: ld t1, 24(a0)\n\t"
        "beqz t1, 2b\n\t"
        "sd t2, 16(a0)\n"
        "3: ret");

void program_long_section(shared_words *shared)
{
    fixed_priority_start(SCHEDULER, 0);
    long_section(shared, &PAGE(0)->sections[SECTIONS_MAX - 1]);
}

// Two threads count under the lock: the client, and upcalls that interrupt it wherever it is.
static uint64_t add_locked(uint64_t self)
{
    fixed_priority_lock(self);
    uint64_t sum = SHARED[1];
    for (int i = 0; i < 4; i++)
        __asm__ volatile("" ::: "memory"); // room for an interrupt between load and store
    SHARED[1] = sum + 1;
    fixed_priority_unlock();
    return 0;
}

static uint64_t add_as_upcall(void)
{
    SHARED[2]++;
    return add_locked(OTHER);
}
COMPONENT_ENTRY(add_entry, add_as_upcall)

void program_share_lock(shared_words *shared)
{
    start_brand(MORE_URGENT, add_entry, scheduler_entry);
    while (shared[3] == 0) {
        add_locked(CLIENT);
        shared[4]++;
    }
    shared[5] = PAGE(0)->lock == 0;
}

static void turning_other(void)
{
    for (;;)
        switch_to(CLIENT);
}
COMPONENT_ENTRY(turning_entry, turning_other)

static uint64_t charged_cyc(uint64_t level)
{
    return PAGE(level)->event[CLIENT].used_cyc + PAGE(level)->event[OTHER].used_cyc;
}

static int each_is_listed_once(uint64_t level)
{
    const struct scheduler_event *event = PAGE(level)->event;
    return event[NOBODY].next == CLIENT && event[CLIENT].next == OTHER &&
           event[OTHER].next == NOBODY;
}

// Two threads alternate shared[0] times. shared[1]: the time that passed less the time that was
// charged to the two.
void program_account(shared_words *shared)
{
    start_scheduling(CLIENT_URGENCY, 1, turning_entry);
    scheduler_map(CHILD);
    scheduler_join(CHILD, CLIENT);
    scheduler_adopt(CHILD, UPCALL, OTHER);
    scheduler_account(SCHEDULER, OTHER, 1);
    uint64_t begin_cyc = cyc_native_begin();
    if (scheduler_account(SCHEDULER, CLIENT, 1) != 0)
        return;
    for (uint64_t i = 0; i < shared[0]; i++)
        switch_to(OTHER);
    uint64_t passed_cyc = cyc_native_end() - begin_cyc;
    shared[1] = passed_cyc - charged_cyc(0);
    shared[2] = charged_cyc(0);
    shared[3] = charged_cyc(0) == charged_cyc(1) && PAGE(0)->event[OTHER].used_cyc > 0 &&
                each_is_listed_once(0) && each_is_listed_once(1);
    scheduler_account(SCHEDULER, CLIENT, 0);
    scheduler_account(SCHEDULER, OTHER, 0);
    uint64_t before_cyc = charged_cyc(0);
    switch_to(OTHER);
    shared[4] = charged_cyc(0) == before_cyc; // not accounted any more
}

// Anything at all with components, brands and schedulers, until it dies of it. shared[0] counts the
// lives.
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t random_argument(uint64_t *state)
{
    const uint64_t interesting[] = {(uint64_t)gather_entry,
                                    (uint64_t)scheduler_entry,
                                    (uint64_t)other_entry,
                                    USER_SHARED,
                                    USER_SCHEDULERS,
                                    KERNEL_BASE,
                                    ~0ul,
                                    SPARE + 1,
                                    SPARE + 2};
    uint64_t choice = next_random(state);
    if (choice % 16 == 0)
        return next_random(state);
    if (choice % 2 == 0)
        return choice / 16 % 6; // a handle or a slot
    return choice % 3 == 0
               ? SPARE
               : interesting[choice / 16 % (sizeof interesting / sizeof interesting[0])];
}

// The page is as much the program's as the kernel's.
static void spoil_page(uint64_t *state)
{
    volatile uint64_t *words = (volatile uint64_t *)PAGE(next_random(state) % 2);
    words[next_random(state) % (sizeof(struct scheduler_page) / sizeof *words)] =
        random_argument(state);
}

void program_fuzz_components(shared_words *shared)
{
    uint64_t state = ++shared[0] * 0x9e3779b97f4a7c15;
    for (;;) {
        register uint64_t a7 __asm__("a7") =
            CALL_component_invoke +
            next_random(&state) % (CALL_scheduler_account + 1 - CALL_component_invoke);
        register uint64_t a0 __asm__("a0") = random_argument(&state);
        register uint64_t a1 __asm__("a1") = random_argument(&state);
        register uint64_t a2 __asm__("a2") = random_argument(&state);
        register uint64_t a3 __asm__("a3") = random_argument(&state);
        register uint64_t a4 __asm__("a4") = 0;
        shared[1]++;
        __asm__ volatile("ecall"
                         : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a7)
                         :
                         : "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "ra", "memory");
        if (next_random(&state) % 64 == 0)
            spoil_page(&state);
        if (next_random(&state) % 16 == 0)
            thread_create((struct thread *)(SPARE + next_random(&state) % 3),
                          random_argument(&state), 0, shared[2]);
    }
}
