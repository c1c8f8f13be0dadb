// SPDX-License-Identifier: BSD-2-Clause
//
// The machine below the firmware: what QEMU's `virt` and the Rocket board have in common, and how
// each of them is ended.
#ifndef PLATFORM_H
#define PLATFORM_H

#define CLINT_MTIMECMP 0x2004000
#define CLINT_MTIME 0x200bff8
#define UART_BASE 0x10000000
// The SiFive test finisher of each machine. On QEMU the first address belongs to a virtio slot,
// which ignores the word; on the Rocket board the first write ends everything.
#define FINISHER_ROCKET 0x10002000
#define FINISHER_QEMU 0x100000

#define RAM_BASE 0x80000000
#define FIRMWARE_BYTES 0x10000  // a power of two: one entry of the PMP protects it
#define PAYLOAD_BASE 0x80200000 // if the loader names no other address

#endif
