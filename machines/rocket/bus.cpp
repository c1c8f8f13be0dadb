// SPDX-License-Identifier: BSD-2-Clause
#include "bus.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace rocket {

Ram::Ram(uint64_t bytes) : bytes_(bytes), memory_(static_cast<uint8_t *>(calloc(bytes, 1)), free)
{
    if (memory_ == nullptr)
        throw std::bad_alloc();
}

uint8_t *Ram::span(uint64_t address, uint64_t length)
{
    if (address < RAM_BASE || address - RAM_BASE > bytes_ || length > bytes_ - (address - RAM_BASE))
        return nullptr;
    return memory_.get() + (address - RAM_BASE);
}

bool Ram::read(uint64_t address, uint64_t *data)
{
    const uint8_t *at = span(address & ~7ull, 8);
    if (at == nullptr)
        return false;
    memcpy(data, at, 8);
    return true;
}

bool Ram::write(uint64_t address, uint64_t data, uint8_t strobe)
{
    uint8_t *at = span(address & ~7ull, 8);
    if (at == nullptr)
        return false;
    if (strobe == 0xff) {
        memcpy(at, &data, 8);
        return true;
    }
    for (int i = 0; i < 8; i++)
        if (strobe >> i & 1)
            at[i] = static_cast<uint8_t>(data >> 8 * i);
    return true;
}

// What firmware does on other boards: a0 = number of the hart, a1 = device tree, then the image.
Devices::Devices(uint64_t entry, uint64_t device_tree)
    : stub_{
          0x00000297'f1402573, // csrr a0, mhartid;  auipc t0, 0
          0x01c2b283'0142b583, // ld a1, 20(t0);     ld t0, 28(t0)
          0x00000013'00028067, // jr t0;             nop
          device_tree,
          entry,
      }
{
}

// Bytes of the line status: the transmitter is always empty, nothing is ever received.
constexpr uint8_t TRANSMITTER_EMPTY = 0x60;
constexpr uint8_t DIVISOR_LATCH = 0x80;
constexpr uint64_t LINE_CONTROL = 3, LINE_STATUS = 5, SCRATCH = 7;

uint8_t Devices::read_uart(uint64_t offset) const
{
    switch (offset) {
    case LINE_CONTROL:
        return line_control_;
    case LINE_STATUS:
        return TRANSMITTER_EMPTY;
    case SCRATCH:
        return scratch_;
    default:
        return 0;
    }
}

void Devices::write_uart(uint64_t offset, uint8_t value)
{
    if (offset == LINE_CONTROL) {
        line_control_ = value;
    } else if (offset == SCRATCH) {
        scratch_ = value;
    } else if (offset == 0 && (line_control_ & DIVISOR_LATCH) == 0) {
        putchar(value);
        if (value == '\n')
            fflush(stdout);
    }
}

// 0x5555 passes, 0x3333 fails with the code in the upper half; any other word is no command, as on the SiFive device.
void Devices::finish(uint32_t word)
{
    if ((word & 0xffff) == 0x5555) {
        finished_ = true;
    } else if ((word & 0xffff) == 0x3333) {
        finished_ = true;
        code_ = word >> 16 != 0 ? static_cast<int>(word >> 16) : 1;
    }
}

bool Devices::read(uint64_t address, uint64_t *data)
{
    *data = 0;
    uint64_t at = address & ~7ull;
    if (at >= BOOT_BASE && at < BOOT_BASE + BOOT_BYTES) {
        if (at - BOOT_BASE < sizeof stub_)
            *data = stub_[(at - BOOT_BASE) / 8];
        return true;
    }
    if (at >= UART_BASE && at < UART_BASE + UART_BYTES) {
        for (uint64_t i = 0; i < 8; i++)
            *data |= static_cast<uint64_t>(read_uart(at - UART_BASE + i)) << 8 * i;
        return true;
    }
    return at == FINISHER_BASE;
}

bool Devices::write(uint64_t address, uint64_t data, uint8_t strobe)
{
    uint64_t at = address & ~7ull;
    if (at >= UART_BASE && at < UART_BASE + UART_BYTES) {
        for (uint64_t i = 0; i < 8; i++)
            if (strobe >> i & 1)
                write_uart(at - UART_BASE + i, static_cast<uint8_t>(data >> 8 * i));
        return true;
    }
    if (at == FINISHER_BASE && (strobe & 0x0f) != 0)
        finish(static_cast<uint32_t>(data));
    return at == FINISHER_BASE;
}

} // namespace rocket
