// SPDX-License-Identifier: BSD-2-Clause
#include "trace.h"

#include <cstring>

#include "tile.h"

// Signals inside the core, as signals.vlt makes them readable.
#define TILE(name) TILE_SIGNAL(model_, hart_, name)
#define CORE(name) TILE(core__DOT__##name)
#define DATA(name) TILE(dcache__DOT__##name)
#define FETCH(name) TILE(frontend__DOT__##name)

namespace board {

Tracer::Tracer(TraceFile &file, const Vrocket___024root &model, uint32_t hart)
    : file_(file), model_(model), hart_(hart)
{
}

// TileLink specification 1.8, TL-C: what a cache asks for, and what it answers to a probe.
constexpr unsigned ACQUIRE_BLOCK = 6, ACQUIRE_PERM = 7;
constexpr unsigned PROBE_ACK = 4, PROBE_ACK_DATA = 5, SHRINKS_MAX = 2;

void Tracer::observe(uint64_t cycle)
{
    unsigned asked = DATA(auto_out_a_bits_opcode);
    if (DATA(auto_out_a_valid) && DATA(auto_out_a_ready) &&
        (asked == ACQUIRE_BLOCK || asked == ACQUIRE_PERM))
        awaited_line_ = DATA(auto_out_a_bits_address);
    cause_cyc_[at_write_back()]++;
    if (CORE(csr_io_trace_0_valid))
        retire(cycle);
    move(of_decode());
    tlb_missed_ = DATA(s1_valid) && DATA(tlb_io_resp_miss);
}

std::optional<uint64_t> Tracer::gives_up() const
{
    unsigned answer = DATA(auto_out_c_bits_opcode);
    if (DATA(auto_out_c_valid) && (answer == PROBE_ACK || answer == PROBE_ACK_DATA) &&
        DATA(auto_out_c_bits_param) <= SHRINKS_MAX)
        return DATA(auto_out_c_bits_address);
    return std::nullopt;
}

void Tracer::given_up(uint64_t line)
{
    given_up_ |= DATA(cached_grant_wait) && line == awaited_line_;
}

Cause Tracer::at_write_back() const
{
    if (CORE(csr_io_trace_0_valid))
        return CORE(csr_io_trace_0_exception) ? TRAP : ISSUE;
    return wb_ == ISSUE || CORE(replay_wb_common) ? replayed() : wb_;
}

// Why the instruction at write-back is fetched again: the data cache refused it now, or it was
// marked on its way.
Cause Tracer::replayed() const
{
    if (CORE(io_dmem_s2_nack) && CORE(wb_reg_valid))
        return of_memory();
    return wb_ == ISSUE ? UNATTRIBUTED : wb_;
}

// What a load or store waits for that the data cache does not take.
Cause Tracer::of_memory() const
{
    if (tlb_missed_ || TILE(ptw__DOT__state) != 0)
        return TLB;
    if (DATA(uncachedInFlight_0) || DATA(s2_uncached))
        return MMIO;
    if (DATA(cached_grant_wait) || DATA(s2_valid_cached_miss) || DATA(release_state) != 0)
        return DCACHE;
    return STORE;
}

// Why write-back sends fetch elsewhere.
Cause Tracer::redirected() const
{
    if (CORE(wb_xcpt) || CORE(csr_io_eret))
        return TRAP;
    return CORE(replay_wb_common) ? replayed()
                                  : CSR; // else a CSR write or fence that empties the pipeline
}

Cause Tracer::of_decode()
{
    if (CORE(take_pc_wb))
        return fetch_ = redirected();
    if (CORE(take_pc_mem))
        return fetch_ = CORE(mem_reg_sfence) ? CSR : BRANCH;
    if (!CORE(ibuf_io_inst_0_valid))
        return of_fetch();
    if (CORE(csr_io_interrupt))
        return TRAP;
    if (CORE(ibuf_io_inst_0_bits_replay))
        return ICACHE;
    if (CORE(ctrl_stalld))
        return of_stall();
    fetch_ = UNATTRIBUTED;
    return ISSUE;
}

// Fetch has nothing yet: because of a miss, or else because it was sent elsewhere.
Cause Tracer::of_fetch()
{
    if (FETCH(s2_valid) && FETCH(s2_tlb_resp_miss))
        fetch_ = TLB;
    else if (FETCH(icache__DOT__refill_valid) || FETCH(icache__DOT__s2_miss))
        fetch_ = ICACHE;
    return fetch_;
}

// What ID waits for; where several hold, the one that usually lasts longest.
Cause Tracer::of_stall() const
{
    if (CORE(csr_io_csr_stall) || CORE(id_reg_pause))
        return CSR;
    if (CORE(id_do_fence_x9))
        return CORE(id_ctrl_decoder_26) ? STORE : CSR; // an atomic that orders, or a fence
    if (CORE(id_sboard_hazard))
        return DATA(uncachedInFlight_0) ? MMIO : MULDIV;
    if (CORE(id_wb_hazard))
        return CORE(wb_ctrl_div) ? MULDIV : of_memory();
    if (CORE(id_ctrl_decoder_14) && CORE(dcache_blocked))
        return of_memory();
    if (CORE(id_mem_hazard))
        return CORE(mem_ctrl_csr) ? CSR : CORE(mem_ctrl_div) ? MULDIV : INTERLOCK;
    if (CORE(id_ex_hazard))
        return CORE(ex_ctrl_csr) ? CSR : CORE(ex_ctrl_div) ? MULDIV : INTERLOCK;
    return MULDIV; // the divider is taken, or the floating-point unit
}

// All slots one stage on. A redirection empties the stages before its own, whatever stood there.
void Tracer::move(Cause decoded)
{
    Cause mem = ex_, wb = mem_;
    if (CORE(take_pc_wb))
        mem = wb = decoded;
    else if (CORE(take_pc_mem))
        mem = decoded;
    else if (ex_ == ISSUE && CORE(ctrl_killx))
        mem = CORE(replay_ex_load_use) || CORE(ex_ctrl_mem) ? of_memory() : MULDIV;
    if (!CORE(take_pc_wb) && mem_ == ISSUE && CORE(dcache_kill_mem))
        wb = MMIO; // the register file's port goes to late data, and late data is uncached
    ex_ = decoded;
    mem_ = mem;
    wb_ = wb;
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

void Tracer::retire(uint64_t cycle)
{
    uint32_t insn = CORE(csr_io_trace_0_insn);
    uint64_t pc = CORE(csr_io_trace_0_iaddr);
    charge_jump(pc, pc + ((insn & 3) == 3 ? 4 : 2));
    bool trapped = CORE(csr_io_trace_0_exception);
    bool interrupted = trapped && CORE(wb_xcpt) && CORE(wb_reg_cause) >> 63;
    TraceStep step = {};
    step.clock = cycle;
    step.pc = static_cast<uint64_t>(static_cast<int64_t>(pc << 24) >> 24);
    step.insn = interrupted ? 0 : (insn & 3) == 3 ? insn : insn & 0xffff;
    step.privilege = CORE(csr__DOT__reg_mstatus_prv);
    step.flags = interrupted ? INTERRUPTED : trapped ? TRAPPED : 0;
    step.flags |= static_cast<uint8_t>(hart_ << HART_SHIFT | (given_up_ ? GIVEN_UP : 0));
    given_up_ = false;
    memcpy(step.cause_cyc, cause_cyc_, sizeof cause_cyc_);
    file_.add(step, CORE(csr__DOT__reg_satp_mode) == 0 ? 0 : CORE(csr__DOT__reg_satp_ppn));
    memset(cause_cyc_, 0, sizeof cause_cyc_);
}

} // namespace board
