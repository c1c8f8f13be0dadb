// SPDX-License-Identifier: BSD-2-Clause
//
// What of the interrupted program is kept while the firmware runs.
#ifndef FRAME_H
#define FRAME_H

#define FRAME_PC 0
#define FRAME_SP 16
#define FRAME_T0 40
#define FRAME_T1 48
#define FRAME_T2 56
#define FRAME_STATUS 256
#define FRAME_BYTES 272

#ifndef __ASSEMBLER__
#include <stdint.h>

struct frame {
    union {
        uint64_t pc;    // where the program goes on: mepc
        uint64_t x[32]; // x1 to x31; x[0] is the pc
    };
    uint64_t status; // mstatus, put back before the return
    uint64_t unused;
};
_Static_assert(sizeof(struct frame) == FRAME_BYTES, "entry.S knows the frame's size");

// Writes a destination register, of which x0 holds nothing.
static inline void set_register(struct frame *frame, unsigned number, uint64_t value)
{
    if (number != 0)
        frame->x[number] = value;
}

static inline uint64_t get_register(const struct frame *frame, unsigned number)
{
    return number == 0 ? 0 : frame->x[number];
}

// Lets the kernel handle a trap as if it had been delegated (privileged specification, 3.1.6).
void redirect(struct frame *frame, uint64_t cause, uint64_t value);
#endif

#endif
