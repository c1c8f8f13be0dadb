// SPDX-License-Identifier: BSD-2-Clause
#include "axi.h"

namespace rocket {

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

AxiPort::AxiPort(AxiSignals signals, Bus &bus, Latency latency) : s_(signals), bus_(bus), latency_(latency)
{
    s_.aw_ready = s_.w_ready = s_.ar_ready = 1;
    s_.b_valid = s_.r_valid = 0;
}

void AxiPort::take(uint64_t cycle)
{
    if (s_.r_valid && s_.r_ready) {
        Burst &burst = reads_.front();
        beat_offered_ = false;
        burst.address += 1ull << burst.size;
        if (burst.beats-- == 1)
            reads_.pop_front();
    }
    if (s_.b_valid && s_.b_ready)
        answers_.pop_front();
    if (s_.ar_valid) {
        auto beats = static_cast<uint8_t>(s_.ar_len + 1); // 256 beats are more than this core asks for
        reads_.push_back({s_.ar_addr, s_.ar_id, beats, s_.ar_size, cycle + latency_.draw()});
    }
    take_write();
    write_beats(cycle);
}

void AxiPort::take_write()
{
    if (s_.aw_valid)
        writes_.push_back({s_.aw_addr, s_.aw_id, 0, s_.aw_size, 0});
    if (s_.w_valid)
        beats_.push_back({s_.w_data, s_.w_strb, s_.w_last});
}

void AxiPort::write_beats(uint64_t cycle)
{
    while (!writes_.empty() && !beats_.empty()) {
        Burst &burst = writes_.front();
        Beat beat = beats_.front();
        beats_.pop_front();
        if (!bus_.write(burst.address, beat.data, beat.strobe)) {
            fault(&faults_.writes, burst.address);
            burst.mapped = false;
        }
        burst.address += 1ull << burst.size;
        if (beat.last) {
            burst.ready = cycle + latency_.draw();
            answers_.push_back(burst);
            writes_.pop_front();
        }
    }
}

void AxiPort::fault(uint64_t *count, uint64_t address)
{
    ++*count;
    faults_.last_address = address;
}

void AxiPort::offer(uint64_t cycle)
{
    s_.b_valid = !answers_.empty() && answers_.front().ready <= cycle;
    if (s_.b_valid) {
        s_.b_id = answers_.front().id;
        s_.b_resp = answers_.front().mapped ? OKAY : DECODE_ERROR;
    }
    s_.r_valid = !reads_.empty() && reads_.front().ready <= cycle;
    if (s_.r_valid && !beat_offered_)
        offer_beat();
}

void AxiPort::offer_beat()
{
    const Burst &burst = reads_.front();
    uint64_t data = 0;
    bool mapped = bus_.read(burst.address, &data);
    if (!mapped)
        fault(&faults_.reads, burst.address);
    s_.r_resp = mapped ? OKAY : DECODE_ERROR;
    s_.r_data = data;
    s_.r_id = burst.id;
    s_.r_last = burst.beats == 1;
    beat_offered_ = true;
}

} // namespace rocket
