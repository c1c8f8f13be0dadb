// SPDX-License-Identifier: BSD-2-Clause
//
// The Rocket core as the board sees it: LiteX's port of it, ExampleRocketSystem, with a cached and
// an uncached AXI4 port; CLINT and PLIC are inside.
#include "core.h"

#include <optional>

#include "Vrocket.h"
#include "Vrocket___024root.h"
#include "trace.h"

namespace board {

const Description DESCRIPTION = {"rocket", "Rocket core in simulation",
                                 "freechips,rocketchip-unknown", ROCKET_ISA};

#define REQUEST(port)                                                                  \
    AxiRequest                                                                         \
    {                                                                                  \
        !!top_.port##_aw_valid, top_.port##_aw_bits_id, top_.port##_aw_bits_addr,      \
            top_.port##_aw_bits_size, !!top_.port##_w_valid, top_.port##_w_bits_data,  \
            top_.port##_w_bits_strb, !!top_.port##_w_bits_last, !!top_.port##_b_ready, \
            !!top_.port##_ar_valid, top_.port##_ar_bits_id, top_.port##_ar_bits_addr,  \
            top_.port##_ar_bits_len, top_.port##_ar_bits_size, !!top_.port##_r_ready   \
    }

#define RESPOND(port, response)                \
    top_.port##_b_valid = response.b_valid;    \
    top_.port##_b_bits_id = response.b_id;     \
    top_.port##_b_bits_resp = response.b_resp; \
    top_.port##_r_valid = response.r_valid;    \
    top_.port##_r_bits_id = response.r_id;     \
    top_.port##_r_bits_data = response.r_data; \
    top_.port##_r_bits_resp = response.r_resp; \
    top_.port##_r_bits_last = response.r_last

#define CORE(name) \
    top_.rootp     \
        ->ExampleRocketSystem__DOT__tile_prci_domain__DOT__tile_reset_domain_tile__DOT__core__DOT__##name
#define CLINT(name) top_.rootp->ExampleRocketSystem__DOT__clint__DOT__##name
constexpr uint64_t NEVER = ~0ull; // a timer that is not set

#define ALWAYS_READY(port) top_.port##_aw_ready = top_.port##_w_ready = top_.port##_ar_ready = 1

class Rocket : public Core {
  public:
    explicit Rocket(const TraceOptions &trace)
    {
        ALWAYS_READY(mem_axi4_0);
        ALWAYS_READY(mmio_axi4_0);
        if (!trace.path.empty())
            tracer_.emplace(trace, *top_.rootp);
    }

    ~Rocket() override
    {
        top_.final();
    }

    void reset(bool on) override
    {
        top_.reset = on;
    }

    void clock(bool high) override
    {
        top_.clock = high;
        top_.eval();
    }

    AxiRequest request(Port port) const override
    {
        return port == Port::MEMORY ? REQUEST(mem_axi4_0) : REQUEST(mmio_axi4_0);
    }

    void respond(Port port, const AxiResponse &response) override
    {
        if (port == Port::MEMORY) {
            RESPOND(mem_axi4_0, response);
        } else {
            RESPOND(mmio_axi4_0, response);
        }
    }

    void interrupt(uint8_t lines) override
    {
        top_.interrupts = lines;
    }

    bool waits() const override
    {
        return CORE(csr_io_csr_stall);
    }

    void leap() override
    {
        if (CLINT(timecmp_0) != NEVER && CLINT(time_) < CLINT(timecmp_0))
            CLINT(time_) = CLINT(timecmp_0) - 1;
    }

    void observe(uint64_t cycle) override
    {
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

    uint64_t pc() const override
    {
        return static_cast<uint64_t>(static_cast<int64_t>(CORE(csr_io_trace_0_iaddr) << 24) >> 24);
    }

  private:
    Vrocket top_;
    std::optional<Tracer> tracer_;
};

std::unique_ptr<Core> make_core(const TraceOptions &trace)
{
    return std::make_unique<Rocket>(trace);
}

} // namespace board
