// SPDX-License-Identifier: BSD-2-Clause
//
// The Rocket core as the board sees it: LiteX's port of it, ExampleRocketSystem, with a cached and
// an uncached AXI4 port; CLINT and PLIC are inside.
#include "core.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "Vrocket.h"
#include "tile.h"
#include "trace.h"

namespace board {

const Description DESCRIPTION = {"rocket",
                                 "Rocket core in simulation",
                                 "freechips,rocketchip-unknown",
                                 ROCKET_ISA,
                                 ROCKET_HARTS,
                                 sizeof(Vrocket::mem_axi4_0_r_bits_data)};

// A port's data, which Verilator keeps as one word of 64 bits or as four of 32.
static inline Lanes lanes(uint64_t signal)
{
    return {signal};
}

static inline Lanes lanes(const VlWide<4> &signal)
{
    return {signal[0] | uint64_t{signal[1]} << 32, signal[2] | uint64_t{signal[3]} << 32};
}

static inline void set_lanes(QData &signal, const Lanes &data)
{
    signal = data[0];
}

static inline void set_lanes(VlWide<4> &signal, const Lanes &data)
{
    for (unsigned i = 0; i < 4; i++)
        signal[i] = static_cast<uint32_t>(data[i / 2] >> 32 * (i % 2));
}

#define REQUEST(port)                                                                        \
    AxiRequest                                                                               \
    {                                                                                        \
        !!top_.port##_aw_valid, top_.port##_aw_bits_id, top_.port##_aw_bits_addr,            \
            top_.port##_aw_bits_size, !!top_.port##_w_valid, lanes(top_.port##_w_bits_data), \
            top_.port##_w_bits_strb, !!top_.port##_w_bits_last, !!top_.port##_b_ready,       \
            !!top_.port##_ar_valid, top_.port##_ar_bits_id, top_.port##_ar_bits_addr,        \
            top_.port##_ar_bits_len, top_.port##_ar_bits_size, !!top_.port##_r_ready         \
    }

#define RESPOND(port, response)                          \
    top_.port##_b_valid = response.b_valid;              \
    top_.port##_b_bits_id = response.b_id;               \
    top_.port##_b_bits_resp = response.b_resp;           \
    top_.port##_r_valid = response.r_valid;              \
    top_.port##_r_bits_id = response.r_id;               \
    set_lanes(top_.port##_r_bits_data, response.r_data); \
    top_.port##_r_bits_resp = response.r_resp;           \
    top_.port##_r_bits_last = response.r_last

#define CORE(hart, name) TILE_SIGNAL(*top_.rootp, hart, core__DOT__##name)
#define CLINT(name) top_.rootp->ExampleRocketSystem__DOT__clint__DOT__##name
constexpr uint64_t NEVER = ~0ull; // no timer

#define ALWAYS_READY(port) top_.port##_aw_ready = top_.port##_w_ready = top_.port##_ar_ready = 1

class Rocket : public Core {
  public:
    explicit Rocket(const TraceOptions &trace)
    {
        ALWAYS_READY(mem_axi4_0);
        ALWAYS_READY(mmio_axi4_0);
        if (trace.path.empty())
            return;
        file_.emplace(trace);
        uint32_t harts = trace.span ? 1 : ROCKET_HARTS; // a span is of the first hart
        for (uint32_t hart = 0; hart < harts; hart++)
            tracers_.emplace_back(*file_, *top_.rootp, hart);
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
        for (uint32_t hart = 0; hart < ROCKET_HARTS; hart++)
            if (!CORE(hart, csr_io_csr_stall))
                return false;
        return true;
    }

    bool timer_ahead() const override
    {
        return earliest_timer() != NEVER;
    }

    void leap() override
    {
        if (timer_ahead())
            CLINT(time_) = earliest_timer() - 1;
    }

    void set_time(uint64_t ticks) override
    {
        CLINT(time_) = ticks;
    }

    void observe(uint64_t cycle) override
    {
        for (Tracer &tracer : tracers_)
            tracer.observe(cycle);
        for (const Tracer &giving : tracers_)
            if (std::optional<uint64_t> line = giving.gives_up())
                for (Tracer &tracer : tracers_)
                    if (&tracer != &giving)
                        tracer.given_up(*line);
    }

    void close_trace() override
    {
        if (file_)
            file_->close();
    }

    bool traced() const override
    {
        return file_ && file_->complete();
    }

    uint64_t pc([[maybe_unused]] uint32_t hart) const override
    {
        uint64_t address = CORE(hart, csr_io_trace_0_iaddr);
        return static_cast<uint64_t>(static_cast<int64_t>(address << 24) >> 24);
    }

  private:
    // Of those that lie ahead: one that was never set does not.
    uint64_t earliest_timer() const
    {
        uint64_t earliest = ahead(CLINT(timecmp_0));
#if ROCKET_HARTS > 1
        earliest = std::min(earliest, ahead(CLINT(timecmp_1)));
#endif
        return earliest;
    }

    uint64_t ahead(uint64_t timer) const
    {
        return CLINT(time_) < timer && timer - CLINT(time_) < TIMER_MAX_TICKS ? timer : NEVER;
    }

    Vrocket top_;
    std::optional<TraceFile> file_;
    std::vector<Tracer> tracers_; // one a hart
};

std::unique_ptr<Core> make_core(const TraceOptions &trace)
{
    Verilated::defaultContextp()->threads(1); // Forks needs a process of one thread
    return std::make_unique<Rocket>(trace);
}

} // namespace board
