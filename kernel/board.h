// SPDX-License-Identifier: BSD-2-Clause
//
// Where things are, physically and virtually, on each board. Plain numbers: assembly and linker scripts read it too.
#ifndef BOARD_H
#define BOARD_H

// Physical memory, the same on all boards:
//   RAM_BASE     monitor: code, data, stack; closed to S and U mode by PMP
//   KERNEL_BASE  kernel image, 2 MiB aligned, then pages for the allocator; device tree near the end of RAM
#define RAM_BASE 0x80000000
#define MONITOR_BYTES 0x10000
#define KERNEL_BASE 0x80200000
#define RAM_BYTES_MAX 0x40000000 // more is not used

#define CLINT_BASE 0x02000000
#define CLINT_BYTES 0x10000
#define CLINT_MSIP 0x0
#define CLINT_MTIMECMP 0x4000
#define CLINT_MTIME 0xbff8

#if defined(BOARD_VIRT)
#define BOARD_NAME "qemu-virt"
#define BOOT_HART 0
#define UART_BASE 0x10000000
#define UART_IS_16550 1
#define BOARD_HAS_TIME_CSR 1
#define FINISHER_BASE 0x100000 // SiFive test finisher: a word written here ends QEMU
#define BOARD_CLOCK_UNIT "instructions" // under -icount shift=0
#define BOARD_CLOCK_NAME "instret"
#define BOARD_CLOCK_HZ 1000000000
#elif defined(BOARD_SIFIVE_U)
#define BOARD_NAME "qemu-sifive_u"
#define BOOT_HART 1 // hart 0 is the E51, without S mode; it parks
#define UART_BASE 0x10010000
#define UART_IS_16550 0
#define BOARD_HAS_TIME_CSR 0 // rdtime traps to the monitor, as on the HiFive Unleashed
#define BOARD_CLOCK_UNIT "instructions"
#define BOARD_CLOCK_NAME "instret"
#define BOARD_CLOCK_HZ 1000000000
#elif defined(BOARD_ROCKET)
#define BOARD_NAME "rocket"
#define BOOT_HART 0
#define UART_BASE 0x10001000
#define UART_IS_16550 1
#define BOARD_HAS_TIME_CSR 0
#define FINISHER_BASE 0x10002000
#define BOARD_CLOCK_UNIT "cycles"
#define BOARD_CLOCK_NAME "cycle"
#define BOARD_CLOCK_HZ 0 // a simulated core has no rate; its mtime counts once in 100 cycles
#define BOARD_SAMPLES_MAX 128 // every space has its own buffer, and clearing pages takes simulated cycles
#else
#error "no such board: pass board=virt, board=sifive_u or board=rocket to make"
#endif

#ifndef BOARD_SAMPLES_MAX
#define BOARD_SAMPLES_MAX 1024 // tests of a group, passes of a circle
#endif

// Virtual addresses. The kernel is mapped at its physical addresses, devices DEVICE_OFFSET above theirs.
//   0x0801_0000            user image: code, constants, data
//   0x080a_0000            the stage: the page that all threads of a circle share
//   0x080b_0000            pages shared with user-level schedulers, one a level
//   0x080c_0000            message buffers, one page a thread
//   0x0810_0000            user stacks, one slot a thread, guard page below each
//   0x4000_0000            end of user addresses; devices from here
//   0x8000_0000            RAM, identity
//   0x1_0000_0000          kernel stacks, one slot a thread, the lower half unmapped
// All that a program has lies in one 2 MiB: after a flush of the TLB the second walk in a space finds the first two
// tables remembered. Not in the first 2 MiB: the three tables' entries would compete for the same cache set.
#define USER_BASE 0x08010000
#define USER_STAGE 0x080a0000
#define USER_SCHEDULERS 0x080b0000
#define USER_BUFFERS 0x080c0000
#define USER_STACKS 0x08100000
#define USER_STACK_SLOT 0x4000 // one guard page, then 12 KiB of stack
#define USER_TOP 0x40000000
#define DEVICE_OFFSET 0x40000000
#define KERNEL_STACKS 0x100000000
// A slot is twice the stack, aligned to itself: bit KERNEL_STACK_BIT of an address tells stack from guard.
#define KERNEL_STACK_BIT 13
#define KERNEL_STACK_BYTES (1 << KERNEL_STACK_BIT)
#define KERNEL_STACK_SLOT (2 << KERNEL_STACK_BIT)

#define PAGE_BYTES 4096
#define CACHE_LINE_BYTES 64
#define MEGAPAGE_BYTES 0x200000

#endif
