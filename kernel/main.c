// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's start, from the monitor to the runner's thread.
#include <stddef.h>

#include "bench/runner.h"
#include "console.h"
#include "devicetree.h"
#include "memlayout.h"
#include "page_alloc.h"
#include "riscv.h"
#include "smp.h"
#include "space.h"
#include "thread.h"
#include "timeout.h"
#include "trap.h"

extern char kernel_end[]; // image.ld

static struct bench_args args;

static void start_runner(void)
{
    struct thread *t = thread_allocate(NULL, "runner");
    thread_create(t, (uint64_t)runner_main, (uint64_t)&args, PRIORITIES - 1);
    thread_start(t);
}

// Called by trap.S on the boot stack, with translation and interrupts off.
_Noreturn void kernel_main(const void *blob)
{
    struct devicetree tree;
    int found = devicetree_read(blob, &tree);
    uint64_t ram_end = found == 0 ? tree.ram_end : (uint64_t)kernel_end;
    if (ram_end > RAM_BASE + RAM_BYTES_MAX)
        ram_end = RAM_BASE + RAM_BYTES_MAX;
    threads_start(0);
    page_alloc_start((uint64_t)kernel_end, (uint64_t)blob < ram_end ? (uint64_t)blob : ram_end);
    spaces_start(ram_end);
    if (found != 0)
        panic("no device tree with memory at %x and a timebase", (uint64_t)RAM_BASE);
    timeouts_start();
    traps_start();
    args.timebase_hz = tree.timebase_hz;
    args.bad_parameter = parameters_read(&args.parameters, tree.bootargs);
    smp_start();
    smp_enter();
    start_runner();
    thread_idle();
}
