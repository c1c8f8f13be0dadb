// SPDX-License-Identifier: BSD-2-Clause
//
// The trace at retirement: every cycle belongs to one instruction and one cause.
//
// Rocket's pipeline moves one slot a cycle from decode (ID) through EX and MEM to write-back (WB) and never stops
// behind ID; what cannot go on is killed and fetched again. So each cycle has exactly one slot at WB: an instruction
// that retires, or a bubble. A bubble carries the cause of what emptied it: why ID had nothing to issue, or what killed
// it on its way. The cycles of an instruction are those since the retirement before it.
#ifndef TRACE_H
#define TRACE_H

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

class Vrocket___024root;

namespace rocket {

enum Cause : uint8_t {
    ISSUE,
    ICACHE,
    DCACHE,
    TLB,
    BRANCH,
    TRAP,
    CSR,
    MULDIV,
    MMIO,
    STORE,
    INTERLOCK,
    UNATTRIBUTED,
    CAUSES
};

// The file: sixteen bytes of header, then steps, little-endian, without padding.
struct TraceHeader {
    char magic[8];
    uint32_t version, step_bytes;
};
static_assert(sizeof(TraceHeader) == 16, "the header is 16 bytes");

struct TraceStep {
    uint64_t clock; // cycle in which it retired
    uint64_t pc;
    uint32_t insn;
    uint8_t privilege; // 0 user, 1 supervisor, 3 machine
    uint8_t flags;     // bit 0: trapped instead of retiring; bit 1: an interrupt was taken here
    uint16_t space;    // 0 without translation, else numbered by page table in order of appearance
    uint32_t cause_cyc[CAUSES];
};
static_assert(sizeof(TraceStep) == 72, "a step is 72 bytes");

constexpr uint8_t TRAPPED = 1, INTERRUPTED = 2;

class Tracer {
public:
    // Throws std::runtime_error where the file cannot be made.
    Tracer(const std::string &path, const Vrocket___024root &core);
    ~Tracer();
    // Once a cycle, with all signals settled, before the clock rises.
    void observe(uint64_t cycle);
    // Throws std::runtime_error where not all could be written.
    void close();

private:
    Cause at_write_back() const;
    Cause redirected() const;
    Cause replayed() const;
    Cause of_decode();
    Cause of_fetch();
    Cause of_stall() const;
    Cause of_memory() const;
    void move(Cause decoded);
    void charge_jump(uint64_t pc, uint64_t next_pc);
    void retire(uint64_t cycle);
    uint16_t space();

    const Vrocket___024root &core_;
    std::string path_;
    FILE *file_;
    bool open_ = false;                              // inside a window
    Cause ex_ = UNATTRIBUTED, mem_ = UNATTRIBUTED, wb_ = UNATTRIBUTED; // the slot in each stage; ISSUE: an instruction
    Cause fetch_ = UNATTRIBUTED;                     // why fetch started anew, until ID issues
    bool tlb_missed_ = false;                        // the access that is in the data cache's second stage
    uint32_t cause_cyc_[CAUSES] = {};                // since the last retirement
    uint64_t next_pc_ = 0;                           // behind the last retired instruction
    std::map<uint64_t, uint16_t> spaces_;
};

} // namespace rocket

#endif
