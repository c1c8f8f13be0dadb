// SPDX-License-Identifier: BSD-2-Clause
//
// The offsets that assembly knows; thread.c asserts that they are those of the structures.
#ifndef LAYOUT_H
#define LAYOUT_H

#define MESSAGE_REGISTERS 4

#define THREAD_FRAME 8
#define THREAD_USER_SP 16
#define THREAD_CONTEXT 24
#define THREAD_MESSAGE 136
#define THREAD_BADGE 168
#define THREAD_RESULT 176

#define FRAME_PC 0
#define FRAME_STATUS 8
#define FRAME_RA 16
#define FRAME_GP 24
#define FRAME_TP 32
#define FRAME_T 40
#define FRAME_A 96
#define FRAME_BYTES 160

#endif
