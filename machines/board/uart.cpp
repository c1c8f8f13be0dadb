// SPDX-License-Identifier: BSD-2-Clause
#include "uart.h"

#include <cstdio>

namespace board {

enum Register : uint64_t {
    DATA,             // or the divisor's low byte
    INTERRUPT_ENABLE, // or the divisor's high byte
    INTERRUPT_ID,     // FIFO control if written
    LINE_CONTROL,
    MODEM_CONTROL,
    LINE_STATUS,
    MODEM_STATUS,
    SCRATCH,
};

constexpr uint8_t ENABLE_EMPTY = 0x02, ENABLE_BITS = 0x0f;
constexpr uint8_t ID_NONE = 0x01, ID_EMPTY = 0x02, ID_FIFO = 0xc0;
constexpr uint8_t FIFO_ENABLE = 0x01;
constexpr uint8_t DIVISOR_LATCH = 0x80;
constexpr uint8_t TRANSMITTER_EMPTY = 0x60;   // holding register and shift register
constexpr uint8_t CARRIER_READY_CLEAR = 0xb0; // what a connected modem reports

bool Uart::divisor_latched() const
{
    return line_control_ & DIVISOR_LATCH;
}

bool Uart::interrupt() const
{
    return became_empty_ && interrupt_enable_ & ENABLE_EMPTY;
}

uint8_t Uart::identify_interrupt()
{
    uint8_t fifo = fifo_control_ & FIFO_ENABLE ? ID_FIFO : 0;
    if (!interrupt())
        return fifo | ID_NONE;
    became_empty_ = false;
    return fifo | ID_EMPTY;
}

// The transmitter is always empty, so that a driver that begins to ask is interrupted at once.
void Uart::enable_interrupts(uint8_t enable)
{
    if (enable & ~interrupt_enable_ & ENABLE_EMPTY)
        became_empty_ = true;
    interrupt_enable_ = enable & ENABLE_BITS;
}

void Uart::send(uint8_t character)
{
    putchar(character);
    if (character == '\n')
        fflush(stdout);
    became_empty_ = true;
}

uint8_t Uart::read(uint64_t offset)
{
    switch (offset) {
    case DATA:
        return divisor_latched() ? divisor_[0] : 0;
    case INTERRUPT_ENABLE:
        return divisor_latched() ? divisor_[1] : interrupt_enable_;
    case INTERRUPT_ID:
        return identify_interrupt();
    case LINE_CONTROL:
        return line_control_;
    case MODEM_CONTROL:
        return modem_control_;
    case LINE_STATUS:
        return TRANSMITTER_EMPTY;
    case MODEM_STATUS:
        return CARRIER_READY_CLEAR;
    case SCRATCH:
        return scratch_;
    default:
        return 0;
    }
}

void Uart::write(uint64_t offset, uint8_t value)
{
    if (divisor_latched() && offset <= INTERRUPT_ENABLE)
        divisor_[offset] = value;
    else if (offset == DATA)
        send(value);
    else if (offset == INTERRUPT_ENABLE)
        enable_interrupts(value);
    else if (offset == INTERRUPT_ID)
        fifo_control_ = value;
    else if (offset == LINE_CONTROL)
        line_control_ = value;
    else if (offset == MODEM_CONTROL)
        modem_control_ = value;
    else if (offset == SCRATCH)
        scratch_ = value;
}

} // namespace board
