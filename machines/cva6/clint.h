// SPDX-License-Identifier: BSD-2-Clause
//
// SiFive's core-local interruptor for one hart: software interrupt, timer, time.
#ifndef CLINT_H
#define CLINT_H

#include "bus.h"

namespace board {

constexpr uint64_t CLINT_BASE = 0x2000000, CLINT_BYTES = 0x10000;

class Clint : public Bus {
  public:
    bool read(uint64_t address, unsigned bytes, uint64_t *data) override;
    bool write(uint64_t address, uint64_t data, uint8_t strobe) override;
    // Once a cycle; the time counts once in 100, as on the other cores of this board.
    void tick();
    // Whether the timer is set and lies ahead.
    bool timer_ahead() const;
    // To one tick before the timer, if it lies ahead.
    void leap();
    void set_time(uint64_t ticks)
    {
        time_ = ticks;
    }
    bool software_interrupt() const
    {
        return software_ & 1;
    }
    bool timer_interrupt() const
    {
        return time_ >= compare_;
    }

  private:
    uint64_t *at(uint64_t address);

    uint64_t software_ = 0, time_ = 0, compare_ = ~0ull; // the timer is not set
    unsigned cycles_ = 0;                                // since the last tick
};

} // namespace board

#endif
