// SPDX-License-Identifier: BSD-2-Clause
//
// What stands on the far side of the core's AXI4 ports: RAM and devices.
#ifndef BUS_H
#define BUS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "uart.h"

namespace board {

// The physical map. CLINT (0x2000000) and PLIC (0xc000000) are the core's: inside its Verilog, or
// its folder brings them.
constexpr uint64_t BOOT_BASE = 0x10000000; // where the core's ROM jumps to
constexpr uint64_t BOOT_BYTES = 0x1000;
constexpr uint64_t UART_BASE = 0x10001000;
constexpr uint64_t UART_BYTES = 0x100;
constexpr uint64_t VIRT_UART_BASE = BOOT_BASE; // the same UART where QEMU's `virt` has it
constexpr uint64_t FINISHER_BASE = 0x10002000;
constexpr uint64_t RAM_BASE = 0x80000000;

// One beat of a read or write: `data` and the bits of `strobe` are in the byte lanes of the
// aligned eight bytes that hold `address`. Both return false if nothing is mapped there.
class Bus {
  public:
    virtual ~Bus() = default;
    // `bytes` is 1, 2, 4 or 8; a device answers only for the registers in [address, address +
    // bytes).
    virtual bool read(uint64_t address, unsigned bytes, uint64_t *data) = 0;
    virtual bool write(uint64_t address, uint64_t data, uint8_t strobe) = 0;
    // Whether the port's latency applies; devices answer in the next cycle.
    virtual bool slow(uint64_t) const
    {
        return false;
    }
};

// `old` with the bytes of `data` that `strobe` names.
uint64_t merge(uint64_t old, uint64_t data, uint8_t strobe);

class Ram : public Bus {
  public:
    explicit Ram(uint64_t bytes);
    bool read(uint64_t address, unsigned bytes, uint64_t *data) override;
    bool write(uint64_t address, uint64_t data, uint8_t strobe) override;
    uint64_t bytes() const
    {
        return bytes_;
    }
    // The RAM behind [address, address + length), or null where that is not all RAM.
    uint8_t *span(uint64_t address, uint64_t length);
    // Calls `touched` once, before the core first reads or writes at `address` or behind it.
    void watch(uint64_t address, std::function<void()> touched);

  private:
    void look_at(uint64_t address);

    uint64_t bytes_;
    uint64_t watched_ = 0;
    std::function<void()> touched_; // empty where nothing is watched
    std::unique_ptr<uint8_t, void (*)(void *)>
        memory_; // zeros, taken from the host page by page as they are touched
};

// All of them by address. `inside` are the core's own devices, or null.
class Map : public Bus {
  public:
    Map(Ram &ram, Bus &devices, Bus *inside) : ram_(ram), devices_(devices), inside_(inside)
    {
    }
    bool read(uint64_t address, unsigned bytes, uint64_t *data) override;
    bool write(uint64_t address, uint64_t data, uint8_t strobe) override;
    bool slow(uint64_t address) const override
    {
        return address >= RAM_BASE;
    }

  private:
    Ram &ram_;
    Bus &devices_;
    Bus *inside_;
};

// Boot stub, ns16550 UART, SiFive test finisher.
//
// The boot stub and the UART share the page at BOOT_BASE, so that images built for QEMU's `virt`
// find the UART there: the core fetches and the stub loads eight bytes at a time, and a driver
// reads one register, so the width of a read tells which of the two is meant.
class Devices : public Bus {
  public:
    // `entry` is the image's; `firmware` starts first where it is not 0, and goes on there.
    Devices(uint64_t entry, uint64_t device_tree, uint64_t firmware);
    // Bit 0 is source 1 of the core's PLIC: the UART.
    uint8_t interrupts() const
    {
        return uart_.interrupt();
    }
    bool read(uint64_t address, unsigned bytes, uint64_t *data) override;
    bool write(uint64_t address, uint64_t data, uint8_t strobe) override;
    bool finished() const
    {
        return finished_;
    }
    int code() const
    {
        return code_;
    } // what the image gave to the finisher; 0 is a pass

  private:
    bool is_uart(uint64_t address) const;
    uint64_t read_stub(uint64_t offset) const;
    uint64_t read_uart(uint64_t offset, unsigned bytes);
    void finish(uint32_t word);

    uint64_t stub_[11];
    Uart uart_;
    bool finished_ = false;
    int code_ = 0;
};

} // namespace board

#endif
