// SPDX-License-Identifier: BSD-2-Clause
#include "plic.h"

namespace board {

constexpr uint64_t PENDING = 0x1000, ENABLED = 0x2000, ENABLED_STEP = 0x80, CONTEXT = 0x200000,
                   CONTEXT_STEP = 0x1000;
constexpr uint32_t SOURCE_BITS = (2u << Plic::SOURCES) - 2; // there is no source 0
constexpr uint32_t PRIORITY_MAX = 7;

void Plic::lines(uint8_t levels)
{
    pending_ = static_cast<uint32_t>(levels) << 1 & ~claimed_;
}

// The pending source of the highest priority that the context takes, of equals the lowest number; 0
// for none.
unsigned Plic::best(unsigned context) const
{
    unsigned found = 0;
    for (unsigned source = 1; source <= SOURCES; source++)
        if ((pending_ & enabled_[context]) >> source & 1 && priority_[source] > priority_[found])
            found = source;
    return found;
}

bool Plic::interrupt(unsigned context) const
{
    return priority_[best(context)] > threshold_[context];
}

uint32_t Plic::claim(unsigned context)
{
    unsigned source = best(context);
    claimed_ |= (1u << source) & SOURCE_BITS;
    pending_ &= ~claimed_;
    return source;
}

uint32_t Plic::read_word(uint64_t offset)
{
    if (offset < PENDING)
        return offset / 4 <= SOURCES ? priority_[offset / 4] : 0;
    if (offset == PENDING)
        return pending_;
    for (unsigned context = 0; context < CONTEXTS; context++) {
        if (offset == ENABLED + context * ENABLED_STEP)
            return enabled_[context];
        if (offset == CONTEXT + context * CONTEXT_STEP)
            return threshold_[context];
        if (offset == CONTEXT + context * CONTEXT_STEP + 4)
            return claim(context);
    }
    return 0;
}

void Plic::write_word(uint64_t offset, uint32_t value)
{
    if (offset >= 4 && offset / 4 <= SOURCES)
        priority_[offset / 4] = value & PRIORITY_MAX;
    for (unsigned context = 0; context < CONTEXTS; context++) {
        if (offset == ENABLED + context * ENABLED_STEP)
            enabled_[context] = value & SOURCE_BITS;
        if (offset == CONTEXT + context * CONTEXT_STEP)
            threshold_[context] = value & PRIORITY_MAX;
        if (offset == CONTEXT + context * CONTEXT_STEP + 4 && value <= SOURCES)
            claimed_ &= ~(1u << value);
    }
}

// Each word that is read is in the byte lanes of its address.
bool Plic::read(uint64_t address, unsigned bytes, uint64_t *data)
{
    *data = 0;
    for (uint64_t at = address & ~3ull; at < address + bytes; at += 4)
        *data |= static_cast<uint64_t>(read_word(at - PLIC_BASE)) << 8 * (at & 4);
    return true;
}

bool Plic::write(uint64_t address, uint64_t data, uint8_t strobe)
{
    uint64_t at = (address & ~7ull) - PLIC_BASE;
    if (strobe & 0x0f)
        write_word(at, static_cast<uint32_t>(data));
    if (strobe & 0xf0)
        write_word(at + 4, static_cast<uint32_t>(data >> 32));
    return true;
}

} // namespace board
