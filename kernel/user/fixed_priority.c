// SPDX-License-Identifier: BSD-2-Clause
#include "fixed_priority.h"

#include "lock.h"
#include "memlayout.h"

// A run queue is a ring of slots; `first` is 0 where it is empty.
static struct {
    uint64_t first;
} queues[URGENCIES];

static struct {
    uint64_t next, previous; // in the ring
    uint64_t queued;
    uint64_t used_cyc;
} slots[SCHEDULED_MAX];

static struct user_scheduler *handle;
static struct scheduler_page *page;
static uint64_t newest; // the event from which the list goes on

int64_t fixed_priority_start(struct user_scheduler *scheduler, uint64_t level)
{
    handle = scheduler;
    page = (struct scheduler_page *)(USER_SCHEDULERS + level * PAGE_BYTES);
    int64_t result = scheduler_map(scheduler);
    if (result == 0)
        lock_sections(page);
    return result;
}

static void enqueue(uint64_t slot)
{
    uint64_t *first = &queues[page->event[slot].urgency % URGENCIES].first;
    if (slots[slot].queued)
        return;
    slots[slot].queued = 1;
    if (*first == 0) {
        *first = slots[slot].next = slots[slot].previous = slot;
        return;
    }
    slots[slot].next = *first;
    slots[slot].previous = slots[*first].previous;
    slots[slots[slot].previous].next = slot;
    slots[*first].previous = slot;
}

static void dequeue(uint64_t slot)
{
    uint64_t *first = &queues[page->event[slot].urgency % URGENCIES].first;
    if (!slots[slot].queued)
        return;
    slots[slot].queued = 0;
    slots[slots[slot].previous].next = slots[slot].next;
    slots[slots[slot].next].previous = slots[slot].previous;
    if (*first == slot)
        *first = slots[slot].next != slot ? slots[slot].next : 0;
}

static uint64_t most_urgent(void)
{
    int urgency = 0;
    while (queues[urgency].first == 0 && urgency < URGENCIES - 1)
        urgency++;
    return queues[urgency].first;
}

static uint64_t take(uint64_t *word)
{
    return __atomic_exchange_n(word, 0,
                               __ATOMIC_RELAXED); // the kernel may write between a load and a store
}

static void take_note(uint64_t slot)
{
    uint64_t flags = take(&page->event[slot].flags);
    slots[slot].used_cyc += take(&page->event[slot].used_cyc);
    if ((flags & EVENT_BRAND_READY) != 0)
        dequeue(slot);
    if ((flags & EVENT_BRAND_ACTIVE) != 0)
        enqueue(slot);
}

// The newest event stays in the list: the kernel will append to it. An event leaves the list before
// it is read, so that whatever comes later brings it back.
static void process_events(void)
{
    for (;;) {
        uint64_t slot = newest, next = __atomic_load_n(&page->event[slot].next, __ATOMIC_RELAXED);
        if (next != 0)
            __atomic_store_n(&page->event[slot].next, 0, __ATOMIC_RELAXED);
        take_note(slot);
        if (next == 0)
            return;
        newest = next;
    }
}

static void switch_to(uint64_t slot, enum switch_how how)
{
    page->next = slot;
    scheduler_switch(handle, how);
}

void fixed_priority_lock(uint64_t self)
{
    uint64_t word;
    while ((word = lock_take_restartable(&page->lock, self)) != 0)
        switch_to(LOCK_OWNER(word), SWITCH_LOCK_WAIT);
}

void fixed_priority_unlock(void)
{
    uint64_t word = lock_release_restartable(&page->lock);
    if (word != 0)
        switch_to(LOCK_WAITER(word), SWITCH_LOCK_PASS);
}

void fixed_priority_add(uint64_t slot, uint64_t urgency, int runnable)
{
    page->event[slot].urgency = urgency;
    if (runnable)
        enqueue(slot);
}

void fixed_priority_yield(uint64_t self)
{
    fixed_priority_lock(self);
    process_events();
    uint64_t *first = &queues[page->event[self].urgency % URGENCIES].first;
    if (*first == self)
        *first = slots[self].next;
    uint64_t next = most_urgent();
    fixed_priority_unlock();
    if (next != self)
        switch_to(next, SWITCH_PLAIN);
}

void fixed_priority_block(uint64_t self)
{
    fixed_priority_lock(self);
    process_events();
    dequeue(self);
    uint64_t next = most_urgent();
    fixed_priority_unlock();
    switch_to(next, SWITCH_PLAIN);
}

void fixed_priority_wake(uint64_t self, uint64_t slot)
{
    fixed_priority_lock(self);
    enqueue(slot);
    fixed_priority_unlock();
}

// Either the upcall thread at its end, or the notifier, which is in no queue. As long as nobody can
// run, it tries again.
uint64_t fixed_priority_upcall(uint64_t type, uint64_t self)
{
    for (;;) {
        fixed_priority_lock(self);
        process_events();
        if (type == UPCALL_BRAND_COMPLETE)
            dequeue(self);
        uint64_t next = most_urgent();
        fixed_priority_unlock();
        switch_to(next, SWITCH_TAIL);
    }
}

uint64_t fixed_priority_used_cyc(uint64_t slot)
{
    return slots[slot].used_cyc;
}
