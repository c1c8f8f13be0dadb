// SPDX-License-Identifier: BSD-2-Clause
//
// What the port in ../freertos uses of FreeRTOS, declared only, so that a compiler can check the
// port without the kernel. Follows FreeRTOS 11's reference manual.
#ifndef STUB_FREERTOS_H
#define STUB_FREERTOS_H

#include <stddef.h>
#include <stdint.h>

#include <FreeRTOSConfig.h>

typedef long BaseType_t;
typedef unsigned long UBaseType_t, StackType_t;
typedef uint64_t TickType_t;
typedef void (*TaskFunction_t)(void *arg);
typedef struct {
    void *opaque[32];
} StaticTask_t, StaticSemaphore_t;

#define pdTRUE ((BaseType_t)1)
#define portMAX_DELAY ((TickType_t) - 1)

#endif
