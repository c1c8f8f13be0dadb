// SPDX-License-Identifier: BSD-2-Clause
//
// SiFive's platform-level interrupt controller: 8 sources with levels, for M mode (context 0) and S
// mode (context 1) of one hart. RISC-V Platform-Level Interrupt Controller Specification 1.0.0.
#ifndef PLIC_H
#define PLIC_H

#include "bus.h"

namespace board {

constexpr uint64_t PLIC_BASE = 0xc000000, PLIC_BYTES = 0x4000000;

class Plic : public Bus {
  public:
    static constexpr unsigned SOURCES = 8, CONTEXTS = 2;

    bool read(uint64_t address, unsigned bytes, uint64_t *data) override;
    bool write(uint64_t address, uint64_t data, uint8_t strobe) override;
    // The levels of the lines: bit 0 is source 1.
    void lines(uint8_t levels);
    bool interrupt(unsigned context) const;

  private:
    uint32_t read_word(uint64_t offset);
    void write_word(uint64_t offset, uint32_t value);
    unsigned best(unsigned context) const;
    uint32_t claim(unsigned context);

    uint32_t priority_[SOURCES + 1] = {};
    uint32_t pending_ = 0, claimed_ = 0; // a bit a source
    uint32_t enabled_[CONTEXTS] = {}, threshold_[CONTEXTS] = {};
};

} // namespace board

#endif
