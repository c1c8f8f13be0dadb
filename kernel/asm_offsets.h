// SPDX-License-Identifier: BSD-2-Clause
//
// Offsets for assembly; thread.c asserts that they are those of the structures.
#ifndef ASM_OFFSETS_H
#define ASM_OFFSETS_H

#define MESSAGE_REGISTERS 4

#define OBJECT_BYTES (8 + CONFIG_OBJCORE * 16 + CONFIG_FINE * 16)
#define THREAD_USER_SP OBJECT_BYTES
#define THREAD_STACK (OBJECT_BYTES + 8)
#define THREAD_FRAME (OBJECT_BYTES + 16)
#define THREAD_CONTEXT (THREAD_FRAME + FRAME_BYTES)
#define THREAD_MESSAGE (THREAD_CONTEXT + 112)
#define THREAD_BADGE (THREAD_MESSAGE + 32)
#define THREAD_RESULT (THREAD_MESSAGE + 40)
#define THREAD_STATE (THREAD_MESSAGE + 80)
#define THREAD_HART (THREAD_MESSAGE + 104) // with several harts

// With smp=fine; the lock is at the beginning.
#define LOCK_SERVING 4
#define LOCK_ALSO 8
#define HART_HELD 16
#define HART_COUNTERS 24

#define FRAME_PC 0
#define FRAME_STATUS 8
#define FRAME_RA 16
#define FRAME_GP 24
#define FRAME_TP 32
#define FRAME_T 40
#define FRAME_A 96
#define FRAME_BYTES 160

#endif
