// SPDX-License-Identifier: BSD-2-Clause
#include "page_alloc.h"

#include <stddef.h>

#include "memlayout.h"
#include "smp.h"
#include "string.h"

struct free_page {
    struct free_page *next;
};

static struct free_page *given_back;
static uint64_t untouched,
    untouched_end; // never allocated so far; saves a walk of all of RAM at boot
static uint64_t free_count;

static uint64_t enter(void)
{
    uint64_t irq = shared_enter();
    lock_briefly(&pages_lock);
    return irq;
}

static void leave(uint64_t irq)
{
    unlock_briefly(&pages_lock);
    shared_leave(irq);
}

void page_alloc_start(uint64_t start, uint64_t end)
{
    untouched = (start + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    untouched_end = end & ~(uint64_t)(PAGE_BYTES - 1);
    free_count = (untouched_end - untouched) / PAGE_BYTES;
}

void *page_alloc(void)
{
    uint64_t irq = enter();
    void *page = given_back;
    if (free_count == 0) {
        leave(irq);
        return NULL;
    }
    free_count--;
    if (page != NULL) {
        given_back = given_back->next;
    } else {
        page = (void *)untouched;
        untouched += PAGE_BYTES;
    }
    leave(irq);
    return memset(page, 0, PAGE_BYTES);
}

void page_free(void *page)
{
    struct free_page *free = page;
    uint64_t irq = enter();
    free->next = given_back;
    given_back = free;
    free_count++;
    leave(irq);
}

uint64_t pages_available(void)
{
    return free_count;
}
