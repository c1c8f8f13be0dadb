// SPDX-License-Identifier: BSD-2-Clause
//
// The trace at commit: every cycle belongs to one instruction and one cause.
//
// CVA6 issues in order, finishes out of order, and commits in order, up to two instructions a
// cycle. A cycle in which none commits belongs to the instruction that commits next; its cause is
// what keeps the oldest instruction from committing, or, where none has issued, what kept fetch
// from delivering one (Eyerman et al.: A performance counter architecture for computing accurate
// CPI components, ASPLOS 2006).
#ifndef TRACE_H
#define TRACE_H

#include <cstdint>

#include "trace_file.h"

class Vcva6;

namespace board {

class Tracer {
  public:
    // Throws std::runtime_error if the file cannot be made.
    Tracer(const TraceOptions &options, const Vcva6 &core);
    // Once a cycle, with all signals settled, before the clock rises.
    void observe(uint64_t cycle);
    // Throws std::runtime_error if not all could be written.
    void close()
    {
        file_.close();
    }
    bool complete() const
    {
        return file_.complete();
    }

  private:
    static constexpr unsigned ENTRIES = 8; // of the scoreboard

    Cause of_cycle() const;
    Cause of_commit() const;
    Cause of_unit() const;
    Cause of_stall() const;
    Cause of_memory() const;
    void follow_load();
    void follow_issue();
    void charge_jump(uint64_t pc, uint64_t next_pc);
    void write(uint64_t cycle, unsigned port, uint8_t flags);

    const Vcva6 &core_;
    TraceFile file_;
    Cause late_next_ = UNATTRIBUTED;  // why the next instruction has not issued
    Cause late_[ENTRIES] = {};        // why each entry of the scoreboard issued late
    bool replayed_ = false;           // the load that the load unit holds was taken back
    uint32_t cause_cyc_[CAUSES] = {}; // since the last commit
    uint64_t next_pc_ = 0;            // behind the last committed instruction
};

} // namespace board

#endif
