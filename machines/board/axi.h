// SPDX-License-Identifier: BSD-2-Clause
//
// The subordinate end of an AXI4 port with a stated latency. Data is 64 or 128 bits wide, bursts
// increment.
//
// Latency model: the first beat of a read is offered 1 + latency cycles after its address was
// taken, the response to a write 1 + latency cycles after its last beat; then a beat a cycle,
// bursts in the order of their addresses. Addresses and write data are taken in the cycle in which
// they are offered. With jitter each burst waits 0..15 cycles more, drawn uniformly by splitmix64
// from the seed. Only memory has this latency: devices answer in the next cycle.
#ifndef AXI_H
#define AXI_H

#include <array>
#include <cstdint>
#include <deque>

#include "bus.h"

namespace board {

struct Latency {
    uint64_t cycles = 0; // 0: memory answers in the next cycle
    bool jitter = false;
    uint64_t seed = 0;

    uint64_t draw(); // cycles until the answer to one burst
};

constexpr uint64_t JITTER_CYCLES = 16;

struct Faults {
    uint64_t reads = 0, writes = 0;
    uint64_t last_address = 0;
};

// The data of one beat, by lanes of eight bytes; a port of 64 bits has the first alone.
using Lanes = std::array<uint64_t, 2>;

// What the core drives: addresses and data that it offers, answers that it takes.
struct AxiRequest {
    bool aw_valid;
    uint8_t aw_id;
    uint64_t aw_addr;
    uint8_t aw_size;
    bool w_valid;
    Lanes w_data;
    uint16_t w_strb;
    bool w_last;
    bool b_ready;
    bool ar_valid;
    uint8_t ar_id;
    uint64_t ar_addr;
    uint8_t ar_len, ar_size;
    bool r_ready;
};

// What the port drives, besides `ready` for addresses and write data, which is always high.
struct AxiResponse {
    bool b_valid;
    uint8_t b_id, b_resp;
    bool r_valid;
    uint8_t r_id;
    Lanes r_data;
    uint8_t r_resp;
    bool r_last;
};

class AxiPort {
  public:
    AxiPort(Bus &bus, Latency latency, unsigned width_bytes);
    // Before the clock rises, with all signals settled: what is handed over in this cycle.
    void take(const AxiRequest &request, uint64_t cycle);
    // After the clock has risen: what is offered in the next cycle.
    const AxiResponse &offer(uint64_t cycle);
    // Accesses where nothing is mapped; they were answered with a decode error.
    const Faults &faults() const
    {
        return faults_;
    }

  private:
    struct Burst {
        uint64_t address;
        uint8_t id, beats, size;
        uint64_t ready; // first cycle in which it may be answered
        bool mapped = true;
    };

    struct Beat {
        Lanes data;
        uint16_t strobe;
        bool last;
    };

    uint64_t cycles_to(uint64_t address); // until the answer to a burst
    void take_write(const AxiRequest &request);
    void write_beats(uint64_t cycle);
    bool write(uint64_t address, const Beat &beat);
    bool read(uint64_t address, unsigned bytes, Lanes *data);
    void offer_beat();
    void fault(uint64_t *count, uint64_t address);

    Bus &bus_;
    Latency latency_;
    unsigned width_bytes_; // of a beat that fills all lanes
    AxiResponse offered_ = {};
    std::deque<Burst> reads_, writes_, answers_;
    std::deque<Beat> beats_; // data may come before its address
    Faults faults_;
    bool beat_offered_ = false;
};

} // namespace board

#endif
