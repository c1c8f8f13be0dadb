// SPDX-License-Identifier: BSD-2-Clause
//
// The sending half of an ns16550A UART (National Semiconductor PC16550D, section 8): registers a
// byte apart, output to stdout. A character is sent in the cycle in which it is written, and none
// is ever received.
#ifndef UART_H
#define UART_H

#include <cstdint>

namespace board {

class Uart {
  public:
    // The registers, at offset 0 to 7; all others read as zero. Reading the interrupt
    // identification acknowledges the interrupt that it names.
    uint8_t read(uint64_t offset);
    void write(uint64_t offset, uint8_t value);
    // The level of the interrupt line: the transmitter has become empty since the last
    // acknowledgement, and the driver wants to know.
    bool interrupt() const;

  private:
    bool divisor_latched() const;
    uint8_t identify_interrupt();
    void enable_interrupts(uint8_t enable);
    void send(uint8_t character);

    uint8_t interrupt_enable_ = 0, fifo_control_ = 0, line_control_ = 0, modem_control_ = 0;
    uint8_t scratch_ = 0, divisor_[2] = {};
    bool became_empty_ = false;
};

} // namespace board

#endif
