// SPDX-License-Identifier: BSD-2-Clause
//
// The memory map, physical and virtual, the same on all boards. Plain numbers: assembly and linker
// scripts read it too.
#ifndef MEMLAYOUT_H
#define MEMLAYOUT_H

// Physical memory:
//   RAM_BASE     monitor: code, data, stack; closed to S and U mode by PMP
//   KERNEL_BASE  kernel image, 2 MiB aligned, then pages for the allocator; device tree near the
//   end of RAM
#define RAM_BASE 0x80000000
#define MONITOR_BYTES 0x10000
#define KERNEL_BASE 0x80200000
#define RAM_BYTES_MAX 0x40000000 // the rest is not used

// Virtual addresses. The kernel is mapped at its physical addresses, devices DEVICE_OFFSET above
// theirs.
//   0x0801_0000            user image: code, constants, data
//   0x080a_0000            the page that all threads of a circle share (struct bench_shared)
//   0x080b_0000            pages shared with user-level schedulers, one per level
//   0x080c_0000            message buffers, one page per thread
//   0x0810_0000            user stacks, one slot per thread, a guard page below each
//   0x4000_0000            end of user addresses; devices from here
//   0x8000_0000            RAM, identity
//   0x1_0000_0000          kernel stacks, one slot per thread, the lower half unmapped
// All of a program is in one 2 MiB, so that after a TLB flush the second walk in a space finds the
// upper two tables cached. It is not the first 2 MiB, because the entries of the three tables would
// compete for one cache set.
#define USER_BASE 0x08010000
#define USER_SHARED 0x080a0000
#define USER_SCHEDULERS 0x080b0000
#define USER_BUFFERS 0x080c0000
#define USER_STACKS 0x08100000
#define USER_STACK_SLOT 0x4000 // one guard page, then 12 KiB of stack
#define USER_TOP 0x40000000
#define DEVICE_OFFSET 0x40000000
#define KERNEL_STACKS 0x100000000
// A slot is twice the stack, aligned to itself: bit KERNEL_STACK_BIT of an address is set in the
// stack and clear in the guard.
#define KERNEL_STACK_BIT 13
#define KERNEL_STACK_BYTES (1 << KERNEL_STACK_BIT)
#define KERNEL_STACK_SLOT (2 << KERNEL_STACK_BIT)

#define PAGE_BYTES 4096
#define CACHE_LINE_BYTES 64
#define MEGAPAGE_BYTES 0x200000

#endif
