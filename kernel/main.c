// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's start: from the monitor's hand to the director's thread.
#include <stddef.h>

#include "console.h"
#include "devicetree.h"
#include "director.h"
#include "memory.h"
#include "space.h"
#include "thread.h"
#include "timeout.h"
#include "trap.h"


extern char kernel_end[]; // image.ld

static struct direction direction;

static void start_director(void)
{
    struct thread *t = thread_allocate(NULL, "director");
    thread_create(t, (uint64_t)director_main, (uint64_t)&direction, PRIORITIES - 1);
    thread_start(t);
}

// Called by trap.S on the boot stack; translation is off, interrupts are off.
_Noreturn void kernel_main(const void *blob)
{
    struct devicetree tree;
    int found = devicetree_read(blob, &tree);
    uint64_t ram_end = found == 0 ? tree.ram_end : (uint64_t)kernel_end;
    if (ram_end > RAM_BASE + RAM_BYTES_MAX)
        ram_end = RAM_BASE + RAM_BYTES_MAX;
    threads_start();
    memory_start((uint64_t)kernel_end, (uint64_t)blob < ram_end ? (uint64_t)blob : ram_end);
    spaces_start(ram_end);
    if (found != 0)
        panic("no device tree with memory at %x and a timebase", (uint64_t)RAM_BASE);
    timeouts_start();
    traps_start();
    direction.timebase_hz = tree.timebase_hz;
    direction.bad_parameter = parameters_read(&direction.parameters, tree.bootargs);
    start_director();
    thread_idle();
}
