// SPDX-License-Identifier: BSD-2-Clause
//
// The trace at retirement: every cycle belongs to one instruction and one cause.
//
// Rocket's pipeline moves one slot a cycle from decode (ID) through EX and MEM to write-back (WB)
// and never stops behind ID; what cannot go on is killed and fetched again. So each cycle has
// exactly one slot at WB: an instruction that retires, or a bubble. A bubble carries the cause of
// what emptied it: why ID had nothing to issue, or what killed it on its way. The cycles of an
// instruction are those since the retirement before it.
#ifndef TRACE_H
#define TRACE_H

#include <cstdint>
#include <optional>

#include "trace_file.h"

class Vrocket___024root;

namespace board {

class Tracer {
  public:
    Tracer(TraceFile &file, const Vrocket___024root &model, uint32_t hart);
    // Once a cycle, with all signals settled, before the clock rises.
    void observe(uint64_t cycle);
    // The line that this hart's data cache gives up in this cycle because another asked for it.
    std::optional<uint64_t> gives_up() const;
    // Another hart gives this line up.
    void given_up(uint64_t line);

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

    TraceFile &file_; // that all harts share
    const Vrocket___024root &model_;
    uint32_t hart_;
    Cause ex_ = UNATTRIBUTED, mem_ = UNATTRIBUTED,
          wb_ = UNATTRIBUTED;         // the slot in each stage; ISSUE: an instruction
    Cause fetch_ = UNATTRIBUTED;      // why fetch started anew, until ID issues
    uint64_t awaited_line_ = 0;       // the last one that the data cache asked for
    bool given_up_ = false;           // by another hart, since the last retirement
    bool tlb_missed_ = false;         // the access that is in the data cache's second stage
    uint32_t cause_cyc_[CAUSES] = {}; // since the last retirement
    uint64_t next_pc_ = 0;            // behind the last retired instruction
};

} // namespace board

#endif
