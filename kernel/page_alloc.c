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

void page_alloc_start(uint64_t start, uint64_t end)
{
    untouched = (start + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
    untouched_end = end & ~(uint64_t)(PAGE_BYTES - 1);
    free_count = (untouched_end - untouched) / PAGE_BYTES;
}

void *page_alloc(void)
{
    uint64_t irq = shared_enter();
    void *page = given_back;
    if (free_count == 0) {
        shared_leave(irq);
        return NULL;
    }
    free_count--;
    if (page != NULL) {
        given_back = given_back->next;
    } else {
        page = (void *)untouched;
        untouched += PAGE_BYTES;
    }
    shared_leave(irq);
    return memset(page, 0, PAGE_BYTES);
}

void page_free(void *page)
{
    struct free_page *free = page;
    uint64_t irq = shared_enter();
    free->next = given_back;
    given_back = free;
    free_count++;
    shared_leave(irq);
}

uint64_t pages_available(void)
{
    return free_count;
}
