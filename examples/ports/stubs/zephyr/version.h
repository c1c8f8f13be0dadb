// SPDX-License-Identifier: BSD-2-Clause
#ifndef STUB_ZEPHYR_VERSION_H
#define STUB_ZEPHYR_VERSION_H

#define KERNEL_VERSION_STRING "stub"

#endif
