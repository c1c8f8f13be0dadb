// SPDX-License-Identifier: BSD-2-Clause
//
// CVA6 with flat ports: its AXI4 port behind the package's adapter for atomics (the core sends them
// to memory), interrupt lines, and what it commits.
module cva6_board
  import ariane_pkg::*;
#(
    localparam int unsigned ID = ariane_axi::IdWidth
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [1:0] irq_i,
    input logic ipi_i,
    input logic time_irq_i,

    output logic aw_valid_o,
    output logic [ID-1:0] aw_id_o,
    output logic [63:0] aw_addr_o,
    output logic [2:0] aw_size_o,
    output logic w_valid_o,
    output logic [63:0] w_data_o,
    output logic [7:0] w_strb_o,
    output logic w_last_o,
    output logic b_ready_o,
    output logic ar_valid_o,
    output logic [ID-1:0] ar_id_o,
    output logic [63:0] ar_addr_o,
    output logic [7:0] ar_len_o,
    output logic [2:0] ar_size_o,
    output logic r_ready_o,

    input logic b_valid_i,
    input logic [ID-1:0] b_id_i,
    input logic [1:0] b_resp_i,
    input logic r_valid_i,
    input logic [ID-1:0] r_id_i,
    input logic [63:0] r_data_i,
    input logic [1:0] r_resp_i,
    input logic r_last_i,

    // What trace.cpp reads. Commit: up to two instructions a cycle, or a trap at the first of them.
    output logic [1:0] commit_o,
    output logic [63:0] pc_o,
    output logic [63:0] second_pc_o,
    output logic [31:0] insn_o,
    output logic [31:0] second_insn_o,
    output logic trap_o,
    output logic interrupt_o,
    output logic memory_fault_o,
    output logic [1:0] privilege_o,
    output logic [43:0] root_o,
    output logic sleeps_o,
    // The oldest instruction, and the one that the issue stage holds.
    output logic head_issued_o,
    output logic head_done_o,
    output fu_t head_unit_o,
    output logic head_is_amo_o,
    output logic [TRANS_ID_BITS-1:0] head_id_o,
    output logic decoded_o,
    output fu_t decoded_unit_o,
    output logic unit_busy_o,
    output logic issue_o,
    output logic [TRANS_ID_BITS-1:0] issue_id_o,
    // What sends fetch elsewhere, and what fetch and the data cache wait for.
    output logic flush_o,
    output logic return_o,
    output logic mispredict_o,
    output logic fetch_walks_o,
    output logic fetch_misses_o,
    output logic data_walks_o,
    output logic data_misses_o,
    output logic data_uncached_o,
    output logic [3:0] load_state_o
);
  // States inside cva6_icache.sv.
  localparam logic [2:0] MISS = 3, KILL_MISS = 5;
  // The board's memory map: RAM is cached, all below it is devices, and the boot stub is executed.
  localparam ariane_cfg_t Config = '{
      RASDepth: ArianeDefaultConfig.RASDepth,
      BTBEntries: ArianeDefaultConfig.BTBEntries,
      BHTEntries: ArianeDefaultConfig.BHTEntries,
      NrNonIdempotentRules: 1,
      NonIdempotentAddrBase: {64'h0},
      NonIdempotentLength: {64'h8000_0000},
      NrExecuteRegionRules: 2,
      ExecuteRegionAddrBase: {64'h8000_0000, 64'h1000_0000},
      ExecuteRegionLength: {64'h8000_0000, 64'h1000},
      NrCachedRegionRules: 1,
      CachedRegionAddrBase: {64'h8000_0000},
      CachedRegionLength: {64'h8000_0000},
      AxiCompliant: 1'b1,
      SwapEndianess: 1'b0,
      DmBaseAddress: 64'h0,
      NrPMPEntries: ArianeDefaultConfig.NrPMPEntries
  };

  // What the board answers comes over with the falling clock: Verilator 5.006 does not carry a
  // change of an input through all of this core's logic, but it does carry that of a register.
  logic [1:0] irq, b_resp, r_resp;
  logic ipi, time_irq, b_valid, r_valid, r_last;
  logic [ID-1:0] b_id, r_id;
  logic [63:0] r_data;
  always_ff @(negedge clk_i) begin
    irq <= irq_i;
    ipi <= ipi_i;
    time_irq <= time_irq_i;
    b_valid <= b_valid_i;
    b_id <= b_id_i;
    b_resp <= b_resp_i;
    r_valid <= r_valid_i;
    r_id <= r_id_i;
    r_data <= r_data_i;
    r_resp <= r_resp_i;
    r_last <= r_last_i;
  end

  ariane_axi::req_t  request;
  ariane_axi::resp_t response;

  cva6 #(
      .ArianeCfg(Config)
  ) core (
      .clk_i,
      .rst_ni,
      .boot_addr_i(64'h1000_0000),
      .hart_id_i(64'h0),
      .irq_i(irq),
      .ipi_i(ipi),
      .time_irq_i(time_irq),
      .debug_req_i(1'b0),
      .cvxif_req_o(),
      .cvxif_resp_i('0),
      .axi_req_o(request),
      .axi_resp_i(response)
  );

  axi_riscv_atomics #(
      .AXI_ADDR_WIDTH(64),
      .AXI_DATA_WIDTH(64),
      .AXI_ID_WIDTH(ID),
      .AXI_USER_WIDTH(ariane_axi::UserWidth),
      .AXI_MAX_WRITE_TXNS(1),
      .RISCV_WORD_WIDTH(64)
  ) atomics (
      .clk_i,
      .rst_ni,
      .slv_aw_addr_i(request.aw.addr),
      .slv_aw_prot_i(request.aw.prot),
      .slv_aw_region_i(request.aw.region),
      .slv_aw_atop_i(request.aw.atop),
      .slv_aw_len_i(request.aw.len),
      .slv_aw_size_i(request.aw.size),
      .slv_aw_burst_i(request.aw.burst),
      .slv_aw_lock_i(request.aw.lock),
      .slv_aw_cache_i(request.aw.cache),
      .slv_aw_qos_i(request.aw.qos),
      .slv_aw_id_i(request.aw.id),
      .slv_aw_user_i(request.aw.user),
      .slv_aw_ready_o(response.aw_ready),
      .slv_aw_valid_i(request.aw_valid),
      .slv_ar_addr_i(request.ar.addr),
      .slv_ar_prot_i(request.ar.prot),
      .slv_ar_region_i(request.ar.region),
      .slv_ar_len_i(request.ar.len),
      .slv_ar_size_i(request.ar.size),
      .slv_ar_burst_i(request.ar.burst),
      .slv_ar_lock_i(request.ar.lock),
      .slv_ar_cache_i(request.ar.cache),
      .slv_ar_qos_i(request.ar.qos),
      .slv_ar_id_i(request.ar.id),
      .slv_ar_user_i(request.ar.user),
      .slv_ar_ready_o(response.ar_ready),
      .slv_ar_valid_i(request.ar_valid),
      .slv_w_data_i(request.w.data),
      .slv_w_strb_i(request.w.strb),
      .slv_w_user_i(request.w.user),
      .slv_w_last_i(request.w.last),
      .slv_w_ready_o(response.w_ready),
      .slv_w_valid_i(request.w_valid),
      .slv_r_data_o(response.r.data),
      .slv_r_resp_o(response.r.resp),
      .slv_r_last_o(response.r.last),
      .slv_r_id_o(response.r.id),
      .slv_r_user_o(response.r.user),
      .slv_r_ready_i(request.r_ready),
      .slv_r_valid_o(response.r_valid),
      .slv_b_resp_o(response.b.resp),
      .slv_b_id_o(response.b.id),
      .slv_b_user_o(response.b.user),
      .slv_b_ready_i(request.b_ready),
      .slv_b_valid_o(response.b_valid),

      .mst_aw_addr_o(aw_addr_o),
      .mst_aw_prot_o(),
      .mst_aw_region_o(),
      .mst_aw_atop_o(),
      .mst_aw_len_o(),
      .mst_aw_size_o(aw_size_o),
      .mst_aw_burst_o(),
      .mst_aw_lock_o(),
      .mst_aw_cache_o(),
      .mst_aw_qos_o(),
      .mst_aw_id_o(aw_id_o),
      .mst_aw_user_o(),
      .mst_aw_ready_i(1'b1),
      .mst_aw_valid_o(aw_valid_o),
      .mst_ar_addr_o(ar_addr_o),
      .mst_ar_prot_o(),
      .mst_ar_region_o(),
      .mst_ar_len_o(ar_len_o),
      .mst_ar_size_o(ar_size_o),
      .mst_ar_burst_o(),
      .mst_ar_lock_o(),
      .mst_ar_cache_o(),
      .mst_ar_qos_o(),
      .mst_ar_id_o(ar_id_o),
      .mst_ar_user_o(),
      .mst_ar_ready_i(1'b1),
      .mst_ar_valid_o(ar_valid_o),
      .mst_w_data_o(w_data_o),
      .mst_w_strb_o(w_strb_o),
      .mst_w_user_o(),
      .mst_w_last_o(w_last_o),
      .mst_w_ready_i(1'b1),
      .mst_w_valid_o(w_valid_o),
      .mst_r_data_i(r_data),
      .mst_r_resp_i(r_resp),
      .mst_r_last_i(r_last),
      .mst_r_id_i(r_id),
      .mst_r_user_i('0),
      .mst_r_ready_o(r_ready_o),
      .mst_r_valid_i(r_valid),
      .mst_b_resp_i(b_resp),
      .mst_b_id_i(b_id),
      .mst_b_user_i('0),
      .mst_b_ready_o(b_ready_o),
      .mst_b_valid_i(b_valid)
  );
  assign commit_o = core.commit_ack;
  assign pc_o = core.commit_instr_id_commit[0].pc;
  assign second_pc_o = core.commit_instr_id_commit[1].pc;
  assign insn_o = core.commit_instr_id_commit[0].ex.tval[31:0];
  assign second_insn_o = core.commit_instr_id_commit[1].ex.tval[31:0];
  assign trap_o = core.ex_commit.valid;
  assign interrupt_o = core.ex_commit.cause[63];
  assign memory_fault_o = core.ex_commit.cause inside {
      riscv::INSTR_ACCESS_FAULT, riscv::LD_ADDR_MISALIGNED, riscv::LD_ACCESS_FAULT,
      riscv::ST_ADDR_MISALIGNED, riscv::ST_ACCESS_FAULT, riscv::INSTR_PAGE_FAULT,
      riscv::LOAD_PAGE_FAULT, riscv::STORE_PAGE_FAULT};
  assign privilege_o = core.priv_lvl;
  assign root_o = core.csr_regfile_i.satp_q.mode == 0 ? '0 : core.csr_regfile_i.satp_q.ppn;
  assign sleeps_o = core.csr_regfile_i.wfi_q;

  assign head_id_o = core.issue_stage_i.i_scoreboard.commit_pointer_q[0];
  assign head_issued_o = core.issue_stage_i.i_scoreboard.mem_q[head_id_o].issued;
  assign head_done_o = core.commit_instr_id_commit[0].valid;
  assign head_unit_o = core.commit_instr_id_commit[0].fu;
  assign head_is_amo_o = is_amo(core.commit_instr_id_commit[0].op);
  assign decoded_o = core.issue_entry_valid_id_issue;
  assign decoded_unit_o = core.issue_entry_id_issue.fu;
  assign unit_busy_o = core.issue_stage_i.i_issue_read_operands.fu_busy;
  assign issue_o = core.issue_stage_i.i_scoreboard.issue_en;
  assign issue_id_o = core.issue_stage_i.i_scoreboard.issue_pointer_q;

  assign flush_o = core.flush_ctrl_ex;
  assign return_o = core.eret;
  assign mispredict_o = core.resolved_branch.is_mispredict;
  assign fetch_walks_o = core.enable_translation_csr_ex && core.icache_areq_cache_ex.fetch_req
      && !core.ex_stage_i.lsu_i.gen_mmu_sv39.i_cva6_mmu.itlb_lu_hit;
  assign fetch_misses_o = core.i_cache_subsystem.i_cva6_icache.mem_data_req_o
      || core.i_cache_subsystem.i_cva6_icache.state_q inside {MISS, KILL_MISS};
  assign data_walks_o = core.ex_stage_i.lsu_i.gen_mmu_sv39.i_cva6_mmu.ptw_active
      && !core.ex_stage_i.lsu_i.gen_mmu_sv39.i_cva6_mmu.walking_instr;
  assign data_misses_o = core.i_cache_subsystem.i_wt_dcache.i_wt_dcache_missunit.mshr_vld_q;
  assign data_uncached_o = core.i_cache_subsystem.i_wt_dcache.i_wt_dcache_missunit.mshr_q.nc;
  assign load_state_o = core.ex_stage_i.lsu_i.i_load_unit.state_q;
endmodule
