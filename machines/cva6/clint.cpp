// SPDX-License-Identifier: BSD-2-Clause
#include "clint.h"

#include "core.h"

namespace board {

constexpr uint64_t SOFTWARE = 0x0, COMPARE = 0x4000, TIME = 0xbff8;
constexpr unsigned CYCLES_PER_TICK = 100;

void Clint::tick()
{
    if (++cycles_ == CYCLES_PER_TICK) {
        cycles_ = 0;
        time_++;
    }
}

bool Clint::timer_ahead() const
{
    return time_ < compare_ && compare_ - time_ < TIMER_MAX_TICKS;
}

void Clint::leap()
{
    if (timer_ahead())
        time_ = compare_ - 1;
}

uint64_t *Clint::at(uint64_t address)
{
    switch ((address - CLINT_BASE) & ~7ull) {
    case SOFTWARE:
        return &software_;
    case COMPARE:
        return &compare_;
    case TIME:
        return &time_;
    default:
        return nullptr;
    }
}

bool Clint::read(uint64_t address, unsigned, uint64_t *data)
{
    const uint64_t *reg = at(address);
    *data = reg != nullptr ? *reg : 0;
    return reg != nullptr;
}

bool Clint::write(uint64_t address, uint64_t data, uint8_t strobe)
{
    uint64_t *reg = at(address);
    if (reg == nullptr)
        return false;
    *reg = merge(*reg, data, strobe);
    if (reg == &software_)
        software_ &= 1;
    return true;
}

} // namespace board
