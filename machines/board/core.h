// SPDX-License-Identifier: BSD-2-Clause
//
// What the board needs of a core: its Verilog, as C++ by Verilator, behind one interface. Each core
// has a folder beside this one; its core.cpp defines DESCRIPTION and make_core.
#ifndef CORE_H
#define CORE_H

#include <cstdint>
#include <memory>
#include <string>

#include "axi.h"
#include "trace_file.h"

namespace board {

struct Description {
    const char *name;       // of the program, in its messages
    const char *model;      // of the device tree: "... core in simulation"
    const char *compatible; // of the device tree's root
    const char *isa;        // as the device tree writes it: rv64imac
    uint32_t harts;
    unsigned memory_width_bytes; // of a beat at the memory port: 8 or 16
};
extern const Description DESCRIPTION;

// A core with one port for everything asks for nothing at DEVICES.
enum class Port { MEMORY, DEVICES };

// A timer that lies further ahead is not set: it is how some kernels switch theirs off, and no
// simulation comes there.
constexpr uint64_t TIMER_MAX_TICKS = 1ull << 48;

class Core {
  public:
    virtual ~Core() = default;
    virtual void reset(bool on) = 0;
    // Sets the clock; returns when all signals have settled.
    virtual void clock(bool high) = 0;
    // CLINT and PLIC of a core whose Verilog has none, for any port to find; else null.
    virtual Bus *inside()
    {
        return nullptr;
    }
    // What the core asks for, and what it is given. Valid with the clock low.
    virtual AxiRequest request(Port port) const = 0;
    virtual void respond(Port port, const AxiResponse &response) = 0;
    // The levels of the interrupt lines of devices: bit 0 is source 1 of the PLIC.
    virtual void interrupt(uint8_t lines) = 0;
    // Whether all harts wait for an interrupt.
    virtual bool waits() const = 0;
    // Whether a timer is set and lies ahead.
    virtual bool timer_ahead() const = 0;
    // Sets the time to one tick before the earliest timer that lies ahead, if there is one. The
    // harts are not touched: they execute what they would have executed, some millions of cycles
    // earlier.
    virtual void leap() = 0;
    virtual void set_time(uint64_t ticks) = 0;
    // Writes the cycle into the trace, if there is one. Once a cycle, before the clock rises.
    virtual void observe(uint64_t cycle) = 0;
    // Throws std::runtime_error if not all of the trace could be written.
    virtual void close_trace() = 0;
    // Whether the trace has all that was asked for, so that the run may end.
    virtual bool traced() const = 0;
    // Of the instruction that a hart retired last, or near it.
    virtual uint64_t pc(uint32_t hart) const = 0;
};

// Throws std::runtime_error if the trace cannot be made.
std::unique_ptr<Core> make_core(const TraceOptions &trace);

} // namespace board

#endif
