// SPDX-License-Identifier: BSD-2-Clause
#ifndef STUB_ZEPHYR_PRINTK_H
#define STUB_ZEPHYR_PRINTK_H

__attribute__((format(printf, 1, 2))) void printk(const char *format, ...);

#endif
