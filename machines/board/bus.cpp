// SPDX-License-Identifier: BSD-2-Clause
#include "bus.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace board {

uint64_t merge(uint64_t old, uint64_t data, uint8_t strobe)
{
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++)
        if (strobe >> i & 1)
            mask |= 0xffull << 8 * i;
    return (old & ~mask) | (data & mask);
}

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

void Ram::watch(uint64_t address, std::function<void()> touched)
{
    watched_ = address;
    touched_ = std::move(touched);
}

void Ram::look_at(uint64_t address)
{
    if (address >= watched_ && touched_)
        std::exchange(touched_, nullptr)();
}

bool Ram::read(uint64_t address, unsigned, uint64_t *data)
{
    look_at(address);
    const uint8_t *at = span(address & ~7ull, 8);
    if (at == nullptr)
        return false;
    memcpy(data, at, 8);
    return true;
}

bool Ram::write(uint64_t address, uint64_t data, uint8_t strobe)
{
    look_at(address);
    uint8_t *at = span(address & ~7ull, 8);
    if (at == nullptr)
        return false;
    uint64_t old;
    memcpy(&old, at, 8);
    data = merge(old, data, strobe);
    memcpy(at, &data, 8);
    return true;
}

bool Map::read(uint64_t address, unsigned bytes, uint64_t *data)
{
    if (address >= RAM_BASE)
        return ram_.read(address, bytes, data);
    return (inside_ != nullptr && inside_->read(address, bytes, data)) ||
           devices_.read(address, bytes, data);
}

bool Map::write(uint64_t address, uint64_t data, uint8_t strobe)
{
    if (address >= RAM_BASE)
        return ram_.write(address, data, strobe);
    return (inside_ != nullptr && inside_->write(address, data, strobe)) ||
           devices_.write(address, data, strobe);
}

// What firmware does on other boards: a0 = number of the hart, a1 = device tree, then the image.
// Firmware itself finds in a2 what follows it: OpenSBI's struct fw_dynamic_info, version 2.
Devices::Devices(uint64_t entry, uint64_t device_tree, uint64_t firmware)
    : stub_{
          0x00000297'f1402573, // csrr a0, mhartid;  auipc t0, 0
          0x01c2b283'0142b583, // ld a1, 20(t0);     ld t0, 28(t0)
          0x00000013'00028067, // jr t0;             nop
          device_tree,         entry,
      }
{
    if (firmware == 0)
        return;
    constexpr uint64_t MAGIC = 0x4942534f, VERSION = 2, SUPERVISOR = 1;
    stub_[1] = 0x02428613'0142b583; // ld a1, 20(t0);     addi a2, t0, 36
    stub_[2] = 0x00028067'01c2b283; // ld t0, 28(t0);     jr t0
    stub_[4] = firmware;
    const uint64_t info[] = {MAGIC, VERSION, entry, SUPERVISOR};
    std::copy(std::begin(info), std::end(info), &stub_[5]); // no options, hart 0
}

// 0x5555 passes; 0x7777, a reset, ends a machine that runs one image, too; 0x3333 fails with the
// code in the upper half. Any other word is not a command of the SiFive device.
void Devices::finish(uint32_t word)
{
    if ((word & 0xffff) == 0x5555 || (word & 0xffff) == 0x7777) {
        finished_ = true;
    } else if ((word & 0xffff) == 0x3333) {
        finished_ = true;
        code_ = word >> 16 != 0 ? static_cast<int>(word >> 16) : 1;
    }
}

bool Devices::is_uart(uint64_t address) const
{
    return (address >= UART_BASE && address < UART_BASE + UART_BYTES) ||
           (address >= VIRT_UART_BASE && address < VIRT_UART_BASE + UART_BYTES);
}

uint64_t Devices::read_stub(uint64_t offset) const
{
    return offset < sizeof stub_ ? stub_[offset / 8] : 0;
}

// Each register that is read is in the byte lane of its address.
uint64_t Devices::read_uart(uint64_t offset, unsigned bytes)
{
    uint64_t data = 0;
    for (uint64_t at = offset; at < offset + bytes; at++)
        data |= static_cast<uint64_t>(uart_.read(at)) << 8 * (at & 7);
    return data;
}

bool Devices::read(uint64_t address, unsigned bytes, uint64_t *data)
{
    *data = 0;
    if (bytes == 8 && address >= BOOT_BASE && address < BOOT_BASE + BOOT_BYTES)
        *data = read_stub(address - BOOT_BASE);
    else if (is_uart(address))
        *data = read_uart(address & (UART_BYTES - 1), bytes);
    else
        return address >= FINISHER_BASE && address < FINISHER_BASE + 8;
    return true;
}

bool Devices::write(uint64_t address, uint64_t data, uint8_t strobe)
{
    uint64_t at = address & ~7ull;
    if (is_uart(at)) {
        for (uint64_t i = 0; i < 8; i++)
            if (strobe >> i & 1)
                uart_.write((at & (UART_BYTES - 1)) + i, static_cast<uint8_t>(data >> 8 * i));
        return true;
    }
    if (at == FINISHER_BASE && (strobe & 0x0f) != 0)
        finish(static_cast<uint32_t>(data));
    return at == FINISHER_BASE;
}

} // namespace board
