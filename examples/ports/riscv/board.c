// SPDX-License-Identifier: BSD-2-Clause
#include "board.h"

#include <stdint.h>

#define UART ((volatile uint8_t *)0x10000000)
#define UART_STATUS 5
#define UART_EMPTY 0x20
#define FINISHER (*(volatile uint32_t *)0x100000)
#define FINISHER_PASS 0x5555
#define FINISHER_FAIL 0x13333

void board_print(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        while ((UART[UART_STATUS] & UART_EMPTY) == 0)
            ;
        *UART = (uint8_t)bytes[i];
    }
}

void board_end(int failed)
{
    FINISHER = failed ? FINISHER_FAIL : FINISHER_PASS;
    for (;;)
        ;
}
