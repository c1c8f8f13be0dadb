// SPDX-License-Identifier: BSD-2-Clause
//
// FreeRTOS includes this header; with static allocation it uses nothing of it but size_t.
#ifndef STDLIB_H
#define STDLIB_H

#include <stddef.h>

#endif
