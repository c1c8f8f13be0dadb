// SPDX-License-Identifier: BSD-2-Clause
//
// The CVA6 core as the board sees it: one AXI4 port for everything, and a CLINT and a PLIC of our
// own beside it.
#include "core.h"

#include <optional>

#include "Vcva6.h"
#include "clint.h"
#include "plic.h"
#include "trace.h"

namespace board {

const Description DESCRIPTION = {
    "cva6", "CVA6 core in simulation", "openhwgroup,cva6", "rv64imac", 1, 8};

// CLINT and PLIC, as the port finds them.
class Inside : public Bus {
  public:
    bool read(uint64_t address, unsigned bytes, uint64_t *data) override
    {
        Bus *bus = at(address);
        return bus != nullptr && bus->read(address, bytes, data);
    }

    bool write(uint64_t address, uint64_t data, uint8_t strobe) override
    {
        Bus *bus = at(address);
        return bus != nullptr && bus->write(address, data, strobe);
    }

    Clint clint;
    Plic plic;

  private:
    Bus *at(uint64_t address)
    {
        if (address >= CLINT_BASE && address < CLINT_BASE + CLINT_BYTES)
            return &clint;
        return address >= PLIC_BASE && address < PLIC_BASE + PLIC_BYTES ? &plic : nullptr;
    }
};

class Cva6 : public Core {
  public:
    explicit Cva6(const TraceOptions &trace)
    {
        if (!trace.path.empty())
            tracer_.emplace(trace, top_);
    }

    ~Cva6() override
    {
        top_.final();
    }

    void reset(bool on) override
    {
        top_.rst_ni = !on;
    }

    void clock(bool high) override
    {
        top_.clk_i = high;
        top_.eval();
        if (high)
            interrupts();
    }

    AxiRequest request(Port port) const override
    {
        if (port == Port::DEVICES)
            return AxiRequest{};
        return {!!top_.aw_valid_o, top_.aw_id_o,      top_.aw_addr_o,  top_.aw_size_o,
                !!top_.w_valid_o,  {top_.w_data_o},   top_.w_strb_o,   !!top_.w_last_o,
                !!top_.b_ready_o,  !!top_.ar_valid_o, top_.ar_id_o,    top_.ar_addr_o,
                top_.ar_len_o,     top_.ar_size_o,    !!top_.r_ready_o};
    }

    void respond(Port port, const AxiResponse &response) override
    {
        if (port == Port::DEVICES)
            return;
        top_.b_valid_i = response.b_valid;
        top_.b_id_i = response.b_id;
        top_.b_resp_i = response.b_resp;
        top_.r_valid_i = response.r_valid;
        top_.r_id_i = response.r_id;
        top_.r_data_i = response.r_data[0];
        top_.r_resp_i = response.r_resp;
        top_.r_last_i = response.r_last;
    }

    Bus *inside() override
    {
        return &inside_;
    }

    void interrupt(uint8_t lines) override
    {
        inside_.plic.lines(lines);
    }

    bool waits() const override
    {
        return top_.sleeps_o;
    }

    bool timer_ahead() const override
    {
        return inside_.clint.timer_ahead();
    }

    void leap() override
    {
        inside_.clint.leap();
    }

    void set_time(uint64_t ticks) override
    {
        inside_.clint.set_time(ticks);
    }

    void observe(uint64_t cycle) override
    {
        if (top_.commit_o & 1)
            pc_ = top_.pc_o;
        if (tracer_)
            tracer_->observe(cycle);
    }

    void close_trace() override
    {
        if (tracer_)
            tracer_->close();
    }

    bool traced() const override
    {
        return tracer_ && tracer_->complete();
    }

    uint64_t pc(uint32_t) const override
    {
        return pc_;
    }

  private:
    void interrupts()
    {
        inside_.clint.tick();
        top_.ipi_i = inside_.clint.software_interrupt();
        top_.time_irq_i = inside_.clint.timer_interrupt();
        top_.irq_i = inside_.plic.interrupt(0) | inside_.plic.interrupt(1) << 1;
    }

    Vcva6 top_;
    Inside inside_;
    std::optional<Tracer> tracer_;
    uint64_t pc_ = 0;
};

std::unique_ptr<Core> make_core(const TraceOptions &trace)
{
    Verilated::defaultContextp()->threads(1); // Forks needs a process of one thread
    return std::make_unique<Cva6>(trace);
}

} // namespace board
