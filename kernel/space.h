// SPDX-License-Identifier: BSD-2-Clause
//
// Address spaces: Sv39 page tables, the kernel's part of them, and processes.
#ifndef SPACE_H
#define SPACE_H

#include <stdint.h>

#include "config.h"
#include "counters.h"
#include "hart.h"
#include "objects/object.h"
#include "riscv.h"

#define PTE_VALID 1
#define PTE_READ 2
#define PTE_WRITE 4
#define PTE_EXECUTE 8
#define PTE_USER 16
#define PTE_GLOBAL 32
#define PTE_ACCESSED 64
#define PTE_DIRTY 128
#define PTE_OWNED 256 // software: the page is freed with the space

#define SPACES_MAX 16

struct scheduler_page;

// One process: user programs that share memory and handles.
struct space {
    struct object object;
    uint64_t satp;
    uint64_t *root;
    uint64_t asid_generation;              // of the identifier in satp
    struct scheduler_page *scheduler_page; // with restartable sections, or NULL
    struct handle handles[HANDLES_MAX];
};

// Turns translation on, with the kernel's mappings alone.
void space_load_kernel(void);
// Builds the kernel's mappings from the image and `ram_end`, and turns translation on.
void spaces_start(uint64_t ram_end);
// The kernel stack of slot `index`; returns its top. The first call maps its pages, for good.
uint64_t kernel_stack(unsigned index);

#if CONFIG_USERSPACE
// A process with the user image, and the page `shared` at USER_SHARED. NULL if memory is out, or
// there are SPACES_MAX already.
struct space *space_create(void *shared);
void space_destroy(struct space *space); // after its threads
// The user stack of slot `index`; returns its top, or 0 if memory is out.
uint64_t space_stack(struct space *space, unsigned index);
// The kernel address of the space's page at a user address; the page is made if it is missing. NULL
// if memory is out.
void *space_page(struct space *space, uint64_t address);
// The message buffer of slot `index`.
void *space_buffer(struct space *space, unsigned index);
// Lets the space's programs name `object` by `handle`.
void space_grant(struct space *space, unsigned handle, struct object *object, uint64_t badge);
// Entry point of the user image.
uint64_t space_entry(void);
// Maps one page; 0, or ERROR_MEMORY if there is no page for a table.
int64_t space_map(struct space *space, uint64_t address, void *page, uint64_t permission);
// For tests: uses at most `limit` identifiers, so that they run out; 0 is all that the hart has.
void space_limit_identifiers(uint64_t limit);
#endif

#if CONFIG_ASID
extern uint64_t asid_generation; // identifiers of another one may be in use elsewhere by now
// Gives the space an identifier of this generation, or of a new one.
void space_renew(struct space *space);
static inline int space_stale(const struct space *space)
{
    return space->asid_generation != asid_generation;
}
#else
static inline void space_renew(struct space *space)
{
    (void)space;
}
static inline int space_stale(const struct space *space)
{
    (void)space;
    return 0;
}
#endif

// Loads the space of a user thread, which must not be stale, into satp.
static inline void space_enter(struct space *space)
{
    COUNT(space_switches);
    HERE(space_loaded) = space;
    WRITE_CSR(satp,
              space->satp); // with asid=on without a fence: translations have identifiers
#if !CONFIG_ASID
    fence_space(0); // all spaces share identifier 0; global translations, the kernel's, stay
#endif
}

static inline void space_load(struct space *space)
{
    if (space_stale(space))
        space_renew(space);
    space_enter(space);
}

#endif
