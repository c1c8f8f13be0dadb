// SPDX-License-Identifier: BSD-2-Clause
#include "console.h"

#include <stdarg.h>

#include "board.h"
#include "memlayout.h"
#include "monitor.h"
#include "riscv.h"
#include "string.h"

#define UART (DEVICE_OFFSET + UART_BASE)

#if CONSOLE == CONSOLE_16550
#define FIFO_BYTES 16

// An empty transmitter takes as many bytes as its queue holds.
static size_t put_some(const char *bytes, size_t length)
{
    volatile uint8_t *uart = (volatile uint8_t *)UART;
    size_t some = length < FIFO_BYTES ? length : FIFO_BYTES;
    uart[2] = 1;                  // queues on
    while ((uart[5] & 0x20) == 0) // line status: transmitter empty
        ;
    for (size_t i = 0; i < some; i++)
        uart[0] = (uint8_t)bytes[i];
    return some;
}
#elif CONSOLE == CONSOLE_SIFIVE
static size_t put_some(const char *bytes, size_t length)
{
    volatile uint32_t *uart = (volatile uint32_t *)UART;
    (void)length;
    uart[2] = 1;                      // txctrl: transmit enable
    while ((uart[0] & 1u << 31) != 0) // txdata: full
        ;
    uart[0] = (uint8_t)bytes[0];
    return 1;
}
#else
// A request names a device, a command and what to do: device 1, command 1 writes a byte.
static size_t put_some(const char *bytes, size_t length)
{
    volatile uint64_t *to_host = (volatile uint64_t *)(UART + HTIF_TO_HOST);
    (void)length;
    while (*to_host != 0) // the host has not taken the last one
        ;
    *to_host = 1UL << 56 | 1UL << 48 | (uint8_t)bytes[0];
    return 1;
}
#endif

int64_t console_write(const char *bytes, size_t length)
{
    for (size_t sent = 0; sent < length;)
        sent += put_some(bytes + sent, length - sent);
    return 0;
}

static void print_number(uint64_t value, uint64_t base)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    console_write(digits + at, sizeof digits - at);
}

static void print_argument(char kind, va_list *arguments)
{
    if (kind == 's') {
        const char *text = va_arg(*arguments, const char *);
        console_write(text, strlen(text));
        return;
    }
    uint64_t value = va_arg(*arguments, uint64_t);
    if (kind == 'd' && (int64_t)value < 0) {
        console_write("-", 1);
        value = 0 - value;
    }
    print_number(value, kind == 'x' ? 16 : 10);
}

static void print_list(const char *format, va_list *arguments)
{
    for (; *format != '\0'; format++) {
        if (*format == '%' && format[1] != '\0')
            print_argument(*++format, arguments);
        else
            console_write(format, 1);
    }
}

void print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_list(format, &arguments);
    va_end(arguments);
}

_Noreturn void panic(const char *format, ...)
{
    va_list arguments;
    interrupts_off();
    va_start(arguments, format);
    print("panic: ");
    print_list(format, &arguments);
    print("\n");
    va_end(arguments);
    monitor_exit(1);
}
