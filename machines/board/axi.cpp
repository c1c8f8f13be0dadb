// SPDX-License-Identifier: BSD-2-Clause
#include "axi.h"

namespace board {

constexpr uint8_t OKAY = 0, DECODE_ERROR = 3;

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t Latency::draw()
{
    return 1 + cycles + (jitter ? splitmix64(&seed) % JITTER_CYCLES : 0);
}

uint64_t AxiPort::cycles_to(uint64_t address)
{
    return bus_.slow(address) ? latency_.draw() : 1;
}

AxiPort::AxiPort(Bus &bus, Latency latency, unsigned width_bytes)
    : bus_(bus), latency_(latency), width_bytes_(width_bytes)
{
}

void AxiPort::take(const AxiRequest &request, uint64_t cycle)
{
    if (offered_.r_valid && request.r_ready) {
        Burst &burst = reads_.front();
        beat_offered_ = false;
        burst.address += 1ull << burst.size;
        if (burst.beats-- == 1)
            reads_.pop_front();
    }
    if (offered_.b_valid && request.b_ready)
        answers_.pop_front();
    if (request.ar_valid) {
        auto beats = static_cast<uint8_t>(request.ar_len + 1); // no core here asks for 256 beats
        reads_.push_back({request.ar_addr, request.ar_id, beats, request.ar_size,
                          cycle + cycles_to(request.ar_addr)});
    }
    take_write(request);
    write_beats(cycle);
}

void AxiPort::take_write(const AxiRequest &request)
{
    if (request.aw_valid)
        writes_.push_back({request.aw_addr, request.aw_id, 0, request.aw_size, 0});
    if (request.w_valid)
        beats_.push_back({request.w_data, request.w_strb, request.w_last});
}

void AxiPort::write_beats(uint64_t cycle)
{
    while (!writes_.empty() && !beats_.empty()) {
        Burst &burst = writes_.front();
        Beat beat = beats_.front();
        beats_.pop_front();
        if (!write(burst.address, beat)) {
            fault(&faults_.writes, burst.address);
            burst.mapped = false;
        }
        burst.address += 1ull << burst.size;
        if (beat.last) {
            burst.ready = cycle + cycles_to(burst.address);
            answers_.push_back(burst);
            writes_.pop_front();
        }
    }
}

// Lanes lie side by side from the last multiple of the port's width on.
bool AxiPort::write(uint64_t address, const Beat &beat)
{
    bool mapped = true;
    uint64_t at = address & ~uint64_t{width_bytes_ - 1};
    for (unsigned lane = 0; lane < width_bytes_ / 8; lane++) {
        auto strobe = static_cast<uint8_t>(beat.strobe >> 8 * lane);
        if (strobe != 0)
            mapped &= bus_.write(at + 8 * lane, beat.data[lane], strobe);
    }
    return mapped;
}

// A read of fewer bytes than the port is wide stands in all lanes: the core takes its own.
bool AxiPort::read(uint64_t address, unsigned bytes, Lanes *data)
{
    if (bytes > 8)
        return bus_.read(address, 8, &(*data)[0]) && bus_.read(address + 8, 8, &(*data)[1]);
    bool mapped = bus_.read(address, bytes, &(*data)[0]);
    (*data)[1] = (*data)[0];
    return mapped;
}

void AxiPort::fault(uint64_t *count, uint64_t address)
{
    ++*count;
    faults_.last_address = address;
}

const AxiResponse &AxiPort::offer(uint64_t cycle)
{
    offered_.b_valid = !answers_.empty() && answers_.front().ready <= cycle;
    if (offered_.b_valid) {
        offered_.b_id = answers_.front().id;
        offered_.b_resp = answers_.front().mapped ? OKAY : DECODE_ERROR;
    }
    offered_.r_valid = !reads_.empty() && reads_.front().ready <= cycle;
    if (offered_.r_valid && !beat_offered_)
        offer_beat();
    return offered_;
}

void AxiPort::offer_beat()
{
    const Burst &burst = reads_.front();
    Lanes data = {};
    bool mapped = read(burst.address, 1u << burst.size, &data);
    if (!mapped)
        fault(&faults_.reads, burst.address);
    offered_.r_resp = mapped ? OKAY : DECODE_ERROR;
    offered_.r_data = data;
    offered_.r_id = burst.id;
    offered_.r_last = burst.beats == 1;
    beat_offered_ = true;
}

} // namespace board
