// SPDX-License-Identifier: BSD-2-Clause
//
// Instructions that the Rocket core lacks, or that QEMU's core has and the Rocket core does not.
// A kernel must not learn in QEMU what does not hold on the RTL, to which it may be moved.
#include "emulate.h"

#include "csr.h"
#include "guest.h"
#include "platform.h"

// Reads the instruction at the frame's pc, 2 or 4 bytes of it. Returns 0, or -1 if the read traps
// (mcause and mtval tell).
static int fetch(const struct frame *frame, uint32_t *instruction)
{
    unsigned length = 2; // until the lowest two bits tell
    *instruction = 0;
    for (unsigned i = 0; i < length; i++) {
        uint8_t byte;
        if (guest_access(frame->pc + i, &byte, 0) != 0)
            return -1;
        *instruction |= (uint32_t)byte << 8 * i;
        length = (*instruction & 3) == 3 ? 4 : 2;
    }
    return 0;
}

// The fields of a 32-bit instruction.
static unsigned rd(uint32_t instruction)
{
    return instruction >> 7 & 31;
}

static unsigned rs1(uint32_t instruction)
{
    return instruction >> 15 & 31;
}

static unsigned rs2(uint32_t instruction)
{
    return instruction >> 20 & 31;
}

static unsigned funct3(uint32_t instruction)
{
    return instruction >> 12 & 7;
}

#define SYSTEM 0x73
#define SATP 0x180
#define TIME 0xc01
#define SATP_MODE_SHIFT 60
#define SATP_SV39 8
#define SATP_ASID (0xffffUL << 44)

// satp of a core that knows Sv39 and no identifiers of address spaces: a write of another mode
// changes nothing, and identifiers read as zero (privileged specification, 4.1.11).
//
// A kernel finds out how many bits an identifier has by writing ones there, and then puts the old
// value back. After that nothing needs to be hidden any more, and satp belongs to the kernel.
static void write_satp(struct frame *frame, uint64_t value)
{
    static int asked;
    uint64_t mode = value >> SATP_MODE_SHIFT;
    if (mode == 0 || mode == SATP_SV39)
        WRITE_CSR(satp, value & ~SATP_ASID);
    if (asked)
        frame->status &= ~(uint64_t)STATUS_TVM;
    asked = (value & SATP_ASID) != 0;
}

static int emulate_satp(struct frame *frame, uint32_t instruction)
{
    unsigned operation = funct3(instruction) & 3, source = rs1(instruction);
    uint64_t operand = funct3(instruction) & 4 ? source : get_register(frame, source);
    uint64_t old = READ_CSR(satp);
    if (operation == 1)
        write_satp(frame, operand);
    else if (source != 0)
        write_satp(frame, operation == 2 ? old | operand : old & ~operand);
    set_register(frame, rd(instruction), old);
    return 1;
}

static int from_supervisor(const struct frame *frame)
{
    return (frame->status & STATUS_MPP) == 1UL << STATUS_MPP_SHIFT;
}

static int is_csr_access(uint32_t instruction, unsigned csr)
{
    return (instruction & 0x7f) == SYSTEM && (funct3(instruction) & 3) != 0 &&
           instruction >> 20 == csr;
}

// sfence.vma of one page or space is done for all: the kernel cannot tell.
static int is_fence(uint32_t instruction)
{
    return (instruction & 0xfe007fff) == 0x12000073;
}

int emulate_illegal(struct frame *frame)
{
    uint32_t instruction;
    if (fetch(frame, &instruction) != 0) {
        redirect(frame, READ_CSR(mcause), READ_CSR(mtval));
        return 1;
    }
    int hidden = from_supervisor(frame) && (frame->status & STATUS_TVM) != 0;
    if (hidden && is_csr_access(instruction, SATP))
        emulate_satp(frame, instruction);
    else if (hidden && is_fence(instruction))
        __asm__ volatile("sfence.vma" ::: "memory");
    else if (is_csr_access(instruction, TIME) && (funct3(instruction) & 3) != 1 &&
             rs1(instruction) == 0)
        set_register(frame, rd(instruction), *(volatile uint64_t *)CLINT_MTIME);
    else
        return 0;
    frame->pc += 4;
    return 1;
}

// A load or store in any of its encodings.
struct access {
    uint8_t bytes, number;                // of memory; of the register
    uint8_t store, floating, zero_extend; // flags
};

#define LOAD 0x03
#define LOAD_FLOAT 0x07
#define STORE 0x23
#define STORE_FLOAT 0x27

static int decode_whole(uint32_t instruction, struct access *access)
{
    unsigned opcode = instruction & 0x7f, width = funct3(instruction);
    if (opcode != LOAD && opcode != LOAD_FLOAT && opcode != STORE && opcode != STORE_FLOAT)
        return 0;
    access->store = opcode == STORE || opcode == STORE_FLOAT;
    access->floating = opcode == LOAD_FLOAT || opcode == STORE_FLOAT;
    access->zero_extend = opcode == LOAD && (width & 4) != 0;
    access->bytes = (uint8_t)(1 << (width & 3));
    access->number = (uint8_t)(access->store ? rs2(instruction) : rd(instruction));
    return 1;
}

// The compressed ones (unprivileged specification, 16.8): bits 15:13 are 1 to 3 for loads, 5 to 7
// for stores, of a double, a word, a doubleword; relative to the stack pointer in quadrant 2.
static int decode_compressed(uint32_t instruction, struct access *access)
{
    unsigned quadrant = instruction & 3, kind = instruction >> 13 & 7;
    if ((quadrant != 0 && quadrant != 2) || (kind & 3) == 0)
        return 0;
    access->store = kind > 4;
    access->floating = (kind & 3) == 1;
    access->zero_extend = 0;
    access->bytes = (kind & 3) == 2 ? 4 : 8;
    if (quadrant == 0)
        access->number = (uint8_t)(8 + (instruction >> 2 & 7));
    else
        access->number = (uint8_t)(access->store ? instruction >> 2 & 31 : rd(instruction));
    return 1;
}

static uint64_t read_float(unsigned number)
{
    uint64_t registers[32];
    save_floats(registers);
    return registers[number];
}

static void write_float(unsigned number, uint64_t value)
{
    uint64_t registers[32];
    save_floats(registers);
    registers[number] = value;
    load_floats(registers);
}

#define SINGLE_IN_DOUBLE 0xffffffff00000000 // how a register holds a single (unprivileged, 12.2)

static void finish_load(struct frame *frame, const struct access *access, uint64_t value)
{
    unsigned unused = 64 - 8u * access->bytes;
    if (access->floating) {
        write_float(access->number, access->bytes == 4 ? value | SINGLE_IN_DOUBLE : value);
        frame->status |= STATUS_FS_DIRTY;
    } else if (access->zero_extend) {
        set_register(frame, access->number, value);
    } else {
        set_register(frame, access->number, (uint64_t)((int64_t)(value << unused) >> unused));
    }
}

// Byte by byte: an access may cross into a page that is not there, and then the fault is the
// kernel's to handle, with the instruction begun anew afterwards.
int emulate_misaligned(struct frame *frame)
{
    uint64_t address = READ_CSR(mtval), value = 0;
    uint32_t instruction = 0;
    struct access access;
    int denied = fetch(frame, &instruction);
    unsigned length = (instruction & 3) == 3 ? 4 : 2;
    if (!denied && !(length == 4 ? decode_whole : decode_compressed)(instruction, &access))
        return 0;
    if (!denied && access.store)
        value = access.floating ? read_float(access.number) : get_register(frame, access.number);
    uint8_t *bytes = (uint8_t *)&value;
    for (unsigned i = 0; !denied && i < access.bytes; i++)
        denied = guest_access(address + i, &bytes[i], access.store);
    if (denied) {
        redirect(frame, READ_CSR(mcause), READ_CSR(mtval));
        return 1;
    }
    if (!access.store)
        finish_load(frame, &access, value);
    frame->pc += length;
    return 1;
}
