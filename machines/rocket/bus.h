// SPDX-License-Identifier: BSD-2-Clause
//
// What stands on the far side of the core's two AXI4 ports: RAM on the cached one, devices on the uncached one.
#ifndef BUS_H
#define BUS_H

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rocket {

// The physical map. The core's own devices (CLINT at 0x2000000, PLIC at 0xc000000) are inside the Verilog.
constexpr uint64_t BOOT_BASE = 0x10000000; // where the core's ROM jumps to
constexpr uint64_t BOOT_BYTES = 0x1000;
constexpr uint64_t UART_BASE = 0x10001000;
constexpr uint64_t UART_BYTES = 0x100;
constexpr uint64_t FINISHER_BASE = 0x10002000;
constexpr uint64_t RAM_BASE = 0x80000000;

// Reads and writes of one beat: the eight bytes at `address` rounded down, of which a write changes those in `strobe`.
// False where nothing is mapped there.
class Bus {
public:
    virtual ~Bus() = default;
    virtual bool read(uint64_t address, uint64_t *data) = 0;
    virtual bool write(uint64_t address, uint64_t data, uint8_t strobe) = 0;
};

class Ram : public Bus {
public:
    explicit Ram(uint64_t bytes);
    bool read(uint64_t address, uint64_t *data) override;
    bool write(uint64_t address, uint64_t data, uint8_t strobe) override;
    uint64_t bytes() const { return bytes_; }
    // The RAM behind [address, address + length), or null where that is not all RAM.
    uint8_t *span(uint64_t address, uint64_t length);

private:
    uint64_t bytes_;
    std::unique_ptr<uint8_t, void (*)(void *)> memory_; // zeros, taken from the host page by page as they are touched
};

// Boot stub, ns16550 UART whose output is stdout, SiFive test finisher.
class Devices : public Bus {
public:
    Devices(uint64_t entry, uint64_t device_tree);
    bool read(uint64_t address, uint64_t *data) override;
    bool write(uint64_t address, uint64_t data, uint8_t strobe) override;
    bool finished() const { return finished_; }
    int code() const { return code_; } // what the image gave to the finisher; 0 is a pass

private:
    uint8_t read_uart(uint64_t offset) const;
    void write_uart(uint64_t offset, uint8_t value);
    void finish(uint32_t word);

    uint64_t stub_[5];
    uint8_t line_control_ = 0, scratch_ = 0;
    bool finished_ = false;
    int code_ = 0;
};

} // namespace rocket

#endif
