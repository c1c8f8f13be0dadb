// SPDX-License-Identifier: BSD-2-Clause
#include "trace.h"

#include <cstring>

#include "Vcva6.h"

namespace board {

// fu_t of ariane_pkg.sv.
enum Unit { NONE, LOAD, STORE_UNIT, ALU, CONTROL_FLOW, MULTIPLIER, CSR_UNIT };

// States of load_unit.sv.
enum LoadState {
    IDLE,
    WAIT_GRANT,
    SEND_TAG,
    WAIT_PAGE_OFFSET,
    ABORT,
    ABORT_UNCACHED,
    WAIT_TRANSLATION,
    WAIT_FLUSH,
    WAIT_WRITES
};

Tracer::Tracer(const TraceOptions &options, const Vcva6 &core) : core_(core), file_(options)
{
}

void Tracer::observe(uint64_t cycle)
{
    cause_cyc_[of_cycle()]++;
    if (core_.trap_o)
        write(cycle, 0, core_.interrupt_o ? INTERRUPTED : TRAPPED);
    for (unsigned port = 0; port < 2; port++)
        if (core_.commit_o >> port & 1)
            write(cycle, port, 0);
    follow_load();
    follow_issue();
}

Cause Tracer::of_cycle() const
{
    if (core_.trap_o)
        return TRAP;
    if (core_.commit_o != 0)
        return ISSUE;
    if (core_.head_done_o)
        return of_commit();
    if (core_.head_issued_o)
        return of_unit();
    return core_.decoded_o && !core_.issue_o ? of_stall() : late_next_;
}

// Why a finished instruction does not commit: the store buffer is full or not yet empty, an atomic
// is in memory, or the hart sleeps.
Cause Tracer::of_commit() const
{
    return core_.head_unit_o == STORE_UNIT ? STORE : CSR;
}

// Why an issued instruction is not finished.
Cause Tracer::of_unit() const
{
    switch (core_.head_unit_o) {
    case LOAD:
    case STORE_UNIT:
        return of_memory();
    case MULTIPLIER:
        return MULDIV;
    default:
        return late_[core_.head_id_o]; // these units need one cycle, so the issue was late
    }
}

// What a load or store waits for; INTERLOCK where it only passes its stages.
Cause Tracer::of_memory() const
{
    int state = core_.load_state_o;
    if (core_.data_walks_o)
        return TLB;
    if (replayed_ || state == ABORT_UNCACHED)
        return MMIO;
    if (state == ABORT || state == WAIT_TRANSLATION)
        return TLB;
    if (core_.data_misses_o)
        return core_.data_uncached_o ? MMIO : DCACHE;
    return state == WAIT_GRANT || state == WAIT_PAGE_OFFSET ? STORE : INTERLOCK;
}

// Why the issue stage keeps an instruction: its unit is taken, or an operand is not there. The
// oldest instruction tells which, as it is what the others wait behind.
Cause Tracer::of_stall() const
{
    bool memory = core_.decoded_unit_o == LOAD || core_.decoded_unit_o == STORE_UNIT;
    if (core_.unit_busy_o && memory)
        return of_memory();
    if (!core_.head_issued_o)
        return core_.unit_busy_o ? MULDIV : late_next_; // a division that was flushed runs on
    switch (core_.head_unit_o) {
    case LOAD:
        return of_memory();
    case STORE_UNIT:
        return core_.head_is_amo_o ? STORE : INTERLOCK;
    case MULTIPLIER:
        return MULDIV;
    case CSR_UNIT:
        return CSR; // its result is not forwarded, and there is room for one
    default:
        return core_.unit_busy_o ? MULDIV : INTERLOCK;
    }
}

// The core lets no load of a device's region run ahead: it takes it back and tries again until it
// is the oldest and all stores are written.
void Tracer::follow_load()
{
    if (core_.load_state_o == ABORT_UNCACHED)
        replayed_ = true;
    else if (core_.load_state_o == IDLE || core_.load_state_o == SEND_TAG)
        replayed_ = false;
}

void Tracer::follow_issue()
{
    if (core_.flush_o) {
        bool trapped = core_.trap_o || core_.return_o;
        late_next_ = trapped ? TRAP : core_.head_is_amo_o ? STORE : CSR;
    } else if (core_.mispredict_o) {
        late_next_ = BRANCH;
    } else if (core_.issue_o) {
        late_[core_.issue_id_o] = late_next_;
        late_next_ = UNATTRIBUTED;
    } else if (core_.decoded_o) {
        late_next_ = of_stall();
    } else if (core_.fetch_walks_o) {
        late_next_ = TLB;
    } else if (core_.fetch_misses_o) {
        late_next_ = ICACHE;
    }
}

// What fetch lost, without a miss, on the way to another place than the next instruction, is the
// branch's.
void Tracer::charge_jump(uint64_t pc, uint64_t next_pc)
{
    if (pc != next_pc_) {
        cause_cyc_[BRANCH] += cause_cyc_[UNATTRIBUTED];
        cause_cyc_[UNATTRIBUTED] = 0;
    }
    next_pc_ = next_pc;
}

void Tracer::write(uint64_t cycle, unsigned port, uint8_t flags)
{
    uint32_t insn = port == 0 ? core_.insn_o : core_.second_insn_o;
    uint64_t pc = port == 0 ? core_.pc_o : core_.second_pc_o;
    charge_jump(pc, pc + ((insn & 3) == 3 ? 4 : 2));
    bool unknown = flags == INTERRUPTED || (flags == TRAPPED && core_.memory_fault_o);
    TraceStep step = {};
    step.clock = cycle;
    step.pc = pc;
    step.insn = unknown ? 0 : insn;
    step.privilege = core_.privilege_o;
    step.flags = flags;
    memcpy(step.cause_cyc, cause_cyc_, sizeof cause_cyc_);
    file_.add(step, core_.root_o);
    memset(cause_cyc_, 0, sizeof cause_cyc_);
}

} // namespace board
