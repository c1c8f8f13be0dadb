// SPDX-License-Identifier: BSD-2-Clause
#include "space.h"

#include "board.h"
#include "compiler.h"
#include "console.h"
#include "counters.h"
#include "error.h"
#include "memlayout.h"
#include "page_alloc.h"
#include "riscv.h"
#include "smp.h"
#include "string.h"

#define KERNEL_PAGE (PTE_VALID | PTE_GLOBAL | PTE_ACCESSED | PTE_DIRTY)
#define USER_PAGE (PTE_VALID | PTE_USER | PTE_ACCESSED | PTE_DIRTY)

extern char rodata_start[], data_start[], kernel_end[]; // image.ld

static uint64_t kernel_root[512] __attribute__((aligned(PAGE_BYTES)));

static uint64_t *table_of(uint64_t pte)
{
    return (uint64_t *)(pte >> 10 << 12);
}

static uint64_t pte_of(const void *page, uint64_t flags)
{
    return (uint64_t)page >> 12 << 10 | flags;
}

// The entry for `address` in the table of `level` (2 is the root); makes the tables above it. NULL
// if memory is out.
static uint64_t *walk(uint64_t *table, uint64_t address, int level)
{
    for (int at = 2; at > level; at--) {
        uint64_t *entry = &table[address >> (12 + 9 * at) & 511];
        if ((*entry & PTE_VALID) == 0) {
            void *page = page_alloc();
            if (page == NULL)
                return NULL;
            *entry = pte_of(page, PTE_VALID);
            COUNT(table_writes);
        }
        table = table_of(*entry);
    }
    return &table[address >> (12 + 9 * level) & 511];
}

static int64_t map(uint64_t *root, uint64_t address, const void *page, uint64_t flags, int level)
{
    uint64_t *entry = walk(root, address, level);
    if (entry == NULL)
        return ERROR_MEMORY;
    *entry = pte_of(page, flags);
    COUNT(table_writes);
    return 0;
}

static void map_kernel(uint64_t address, uint64_t physical, uint64_t permission, int level)
{
    if (map(kernel_root, address, (void *)physical, KERNEL_PAGE | permission, level) != 0)
        panic("no memory for the kernel's own page tables");
}

static void map_identity(uint64_t start, uint64_t end, uint64_t permission)
{
    while (start < end) {
        int mega = start % MEGAPAGE_BYTES == 0 && end - start >= MEGAPAGE_BYTES;
        map_kernel(start, start, permission, mega);
        start += mega ? MEGAPAGE_BYTES : PAGE_BYTES;
    }
}

#if CONFIG_ASID
uint64_t asid_generation HOT_DATA = 1;
static uint64_t asid_next = 1, asid_limit;

// satp keeps only those identifier bits that the hart has.
static void find_identifiers(void)
{
    uint64_t satp = READ_CSR(satp);
    WRITE_CSR(satp, satp | 0xffffUL << SATP_ASID_SHIFT);
    asid_limit = READ_CSR(satp) >> SATP_ASID_SHIFT & 0xffff;
    WRITE_CSR(satp, satp);
    if (asid_limit == 0)
        panic("this hart has no address-space identifiers: build with asid=off");
}

// When all identifiers are given out, drops every translation and starts again.
void space_renew(struct space *space)
{
    if (asid_next > asid_limit) {
        asid_generation++;
        asid_next = 1;
        fence_all_pages();
    }
    space->asid_generation = asid_generation;
    space->satp = SATP_SV39 | asid_next++ << SATP_ASID_SHIFT | (uint64_t)space->root >> 12;
}
#endif

static uint64_t kernel_satp(void)
{
    return SATP_SV39 | (uint64_t)kernel_root >> 12;
}

void space_load_kernel(void)
{
    // The tables must be in memory before the first walk: a write of satp orders nothing.
    fence_all_pages();
    WRITE_CSR(satp, kernel_satp());
    fence_all_pages();
}

void spaces_start(uint64_t ram_end)
{
    map_identity(KERNEL_BASE, (uint64_t)rodata_start, PTE_READ | PTE_EXECUTE);
    map_identity((uint64_t)rodata_start, (uint64_t)data_start, PTE_READ);
    map_identity((uint64_t)data_start, ram_end, PTE_READ | PTE_WRITE);
    map_kernel(DEVICE_OFFSET + UART_BASE, UART_BASE, PTE_READ | PTE_WRITE, 0);
    uint64_t mtime = CLINT_BASE + (CLINT_MTIME & ~(PAGE_BYTES - 1)); // this page holds mtime alone
    map_kernel(DEVICE_OFFSET + mtime, mtime, PTE_READ, 0);
    if (walk(kernel_root, KERNEL_STACKS, 1) ==
        NULL) // so that all spaces share the table of kernel stacks
        panic("no memory for the kernel's own page tables");
    space_load_kernel();
#if CONFIG_ASID
    find_identifiers();
#endif
}

uint64_t kernel_stack(unsigned index)
{
    uint64_t top = KERNEL_STACKS + (uint64_t)(index + 1) * KERNEL_STACK_SLOT;
    for (uint64_t at = top - KERNEL_STACK_BYTES; at < top; at += PAGE_BYTES) {
        uint64_t *entry = walk(kernel_root, at, 0);
        if (entry == NULL)
            panic("no memory for a kernel stack");
        if ((*entry & PTE_VALID) == 0) {
            map_kernel(at, (uint64_t)page_alloc(), PTE_READ | PTE_WRITE, 0);
            fence_page(at); // a hart may remember that the page was missing
            smp_fence();
        }
    }
    return top;
}

#if CONFIG_USERSPACE
// Not one page each: the beginnings of all pages share one cache set, which page tables need.
static struct space spaces[SPACES_MAX];

// How the linked-in user image begins; user/user.ld writes it. All addresses are user addresses.
struct image {
    uint64_t entry, text_end, rodata_end, data_end, bss_end;
};

extern const char user_image[]; // program.S, page aligned

static const struct image *image(void)
{
    return (const struct image *)(const void *)user_image;
}

uint64_t space_entry(void)
{
    return image()->entry;
}

void space_grant(struct space *space, unsigned handle, struct object *object, uint64_t badge)
{
    if (handle >= HANDLES_MAX)
        panic("handle %u: a space has only %u", (uint64_t)handle, (uint64_t)HANDLES_MAX);
    space->handles[handle] = (struct handle){object, badge};
}

int64_t space_map(struct space *space, uint64_t address, void *page, uint64_t permission)
{
    return map(space->root, address, page, USER_PAGE | permission, 0);
}

// Maps a new page with a copy of `bytes` (NULL: zeros); NULL if memory is out.
static void *map_new(struct space *space, uint64_t address, const char *bytes)
{
    void *page = page_alloc();
    if (page == NULL)
        return NULL;
    if (bytes != NULL)
        memcpy(page, bytes, PAGE_BYTES);
    if (space_map(space, address, page, PTE_READ | PTE_WRITE | PTE_OWNED) != 0) {
        page_free(page);
        return NULL;
    }
    fence_page(address); // a hart may remember that the page was missing
    smp_fence();
    return page;
}

// Code and constants are shared with the kernel image; each space has its own data and bss.
static int64_t map_image(struct space *space)
{
    int64_t failed = 0;
    for (uint64_t at = USER_BASE; at < image()->bss_end; at += PAGE_BYTES) {
        const char *bytes = user_image + (at - USER_BASE);
        if (at < image()->text_end)
            failed |= space_map(space, at, (void *)bytes, PTE_READ | PTE_EXECUTE);
        else if (at < image()->rodata_end)
            failed |= space_map(space, at, (void *)bytes, PTE_READ);
        else
            failed |= map_new(space, at, at < image()->data_end ? bytes : NULL) == NULL;
    }
    return failed;
}

static struct space *free_space(void)
{
    for (struct space *s = spaces; s < spaces + SPACES_MAX; s++)
        if (s->object.type == OBJECT_none)
            return s;
    return NULL;
}

struct space *space_create(void *shared)
{
    struct space *space = free_space();
    uint64_t *root = space != NULL ? page_alloc() : NULL;
    if (root == NULL)
        return NULL;
    memcpy(root, kernel_root, PAGE_BYTES);
    *space = (struct space){.object.type = OBJECT_space};
    object_enlist(&space->object);
    space->root = root;
    // With asid=on the first load replaces it: generation 0 is never current.
    space->satp = SATP_SV39 | (uint64_t)root >> 12;
    if (map_image(space) != 0 || space_map(space, USER_SHARED, shared, PTE_READ | PTE_WRITE) != 0) {
        space_destroy(space);
        return NULL;
    }
    fence_all_pages(); // the tables must be in memory before the first walk of them; a switch does
                       // not see to that
    return space;
}

static void free_table(uint64_t *table, int level)
{
    for (int i = 0; i < 512; i++) {
        if ((table[i] & PTE_VALID) == 0)
            continue;
        if (level > 0)
            free_table(table_of(table[i]), level - 1);
        else if ((table[i] & PTE_OWNED) != 0)
            page_free(table_of(table[i]));
    }
    page_free(table);
}

void space_destroy(struct space *space)
{
    object_delist(&space->object);
    uint64_t irq = shared_enter();
    smp_alone();
    if (HERE(space_loaded) == space) { // kernel threads run in the space loaded last
        WRITE_CSR(satp, kernel_satp());
        HERE(space_loaded) = NULL;
    }
    fence_all_pages(); // before its pages are used again
    smp_leave_space(space, kernel_satp());
    shared_leave(irq);
    if ((space->root[0] & PTE_VALID) != 0)
        free_table(table_of(space->root[0]), 1);
    page_free(space->root);
    space->object.type = OBJECT_none;
}

uint64_t space_stack(struct space *space, unsigned index)
{
    uint64_t top = USER_STACKS + (uint64_t)(index + 1) * USER_STACK_SLOT;
    for (uint64_t at = top - USER_STACK_SLOT + PAGE_BYTES; at < top; at += PAGE_BYTES) {
        uint64_t *entry = walk(space->root, at, 0);
        if (entry == NULL || ((*entry & PTE_VALID) == 0 && map_new(space, at, NULL) == NULL))
            return 0;
    }
    return top;
}

void *space_page(struct space *space, uint64_t address)
{
    uint64_t *entry = walk(space->root, address, 0);
    if (entry == NULL)
        return NULL;
    return (*entry & PTE_VALID) != 0 ? table_of(*entry) : map_new(space, address, NULL);
}

void *space_buffer(struct space *space, unsigned index)
{
    return space_page(space, USER_BUFFERS + (uint64_t)index * PAGE_BYTES);
}

#if CONFIG_ASID
void space_limit_identifiers(uint64_t limit)
{
    find_identifiers();
    if (limit != 0 && limit < asid_limit)
        asid_limit = limit;
}
#endif
#endif
