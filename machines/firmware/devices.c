// SPDX-License-Identifier: BSD-2-Clause
#include "devices.h"

#include "csr.h"
#include "platform.h"

void set_timer(uint64_t at)
{
    *(volatile uint64_t *)CLINT_MTIMECMP = at;
    CLEAR_CSR(mip, INTERRUPT_STI);
    SET_CSR(mie, INTERRUPT_MTI);
}

void put_character(uint8_t character)
{
    volatile uint8_t *uart = (volatile uint8_t *)UART_BASE;
    while ((uart[5] & 0x20) == 0)
        ;
    uart[0] = character;
}

void end_machine(enum ending ending)
{
    static const uint32_t words[] = {[POWER_OFF] = 0x5555, [REBOOT] = 0x7777, [FAILURE] = 0x13333};
    *(volatile uint32_t *)FINISHER_ROCKET = words[ending];
    *(volatile uint32_t *)FINISHER_QEMU = words[ending];
    for (;;)
        __asm__ volatile("wfi");
}
