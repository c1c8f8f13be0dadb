// SPDX-License-Identifier: BSD-2-Clause
//
// The devices of each board, by physical address, and its clock: board=NAME of the Makefile is
// BOARD_NAME in capitals here. Every file begins with it. Plain numbers: assembly reads it, too.
#ifndef BOARD_H
#define BOARD_H

#define CLINT_BASE 0x02000000
#define CLINT_BYTES 0x10000
#define CLINT_MSIP 0x0
#define CLINT_MTIMECMP 0x4000
#define CLINT_MTIME 0xbff8

// What is at a board's UART_BASE; console.c has a driver for each.
#define CONSOLE_16550 0
#define CONSOLE_SIFIVE 1
#define CONSOLE_HTIF 2 // the host-target interface of Spike, which also ends the machine
#define HTIF_TO_HOST 8 // requests

#if defined(BOARD_VIRT)
#define BOARD_NAME "qemu-virt"
#define BOOT_HART 0
#define UART_BASE 0x10000000
#define CONSOLE CONSOLE_16550
#define BOARD_HAS_TIME_CSR 1
#define FINISHER_BASE 0x100000          // SiFive test finisher: a word written here ends QEMU
#define CYC_CLOCK_INSTRET               // cyc/clock.h reads retired instructions
#define BOARD_CLOCK_UNIT "instructions" // under -icount shift=0
#define BOARD_CLOCK_NAME "instret"
#define BOARD_CLOCK_HZ 1000000000
#elif defined(BOARD_SIFIVE_U)
#define BOARD_NAME "qemu-sifive_u"
#define BOOT_HART 1 // hart 0 is the E51, without S mode; it parks
#define UART_BASE 0x10010000
#define CONSOLE CONSOLE_SIFIVE
#define BOARD_HAS_TIME_CSR 0 // rdtime traps to the monitor, as on the HiFive Unleashed
#define CYC_CLOCK_INSTRET
#define BOARD_CLOCK_UNIT "instructions"
#define BOARD_CLOCK_NAME "instret"
#define BOARD_CLOCK_HZ 1000000000
#elif defined(BOARD_SPIKE)
#define BOARD_NAME "qemu-spike"
#define BOOT_HART 0
#define UART_BASE 0x01000000
#define CONSOLE CONSOLE_HTIF
#define BOARD_HAS_TIME_CSR 0
#define CYC_CLOCK_INSTRET
#define BOARD_CLOCK_UNIT "instructions"
#define BOARD_CLOCK_NAME "instret"
#define BOARD_CLOCK_HZ 1000000000
#elif defined(BOARD_ROCKET) || defined(BOARD_CVA6) // two cores on one board: machines/board
#if defined(BOARD_CVA6)
#define BOARD_NAME "cva6"
#else
#define BOARD_NAME "rocket"
#endif
#define BOOT_HART 0
#define UART_BASE 0x10001000
#define CONSOLE CONSOLE_16550
#define BOARD_HAS_TIME_CSR 0
#define FINISHER_BASE 0x10002000
#define BOARD_CLOCK_UNIT "cycles"
#define BOARD_CLOCK_NAME "cycle"
#define BOARD_CLOCK_HZ 0 // a simulated core has no rate; its mtime counts once per 100 cycles
#define BOARD_SAMPLES_MAX \
    128 // each space has a buffer, and clearing its pages takes simulated cycles
#else
#error "no such board: pass board=virt, or another name of this file, to make"
#endif

#ifndef BOARD_SAMPLES_MAX
#define BOARD_SAMPLES_MAX 1024 // tests per group, or passes per circle
#endif

#endif
