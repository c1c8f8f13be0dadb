// SPDX-License-Identifier: BSD-2-Clause
#ifndef STUB_FREERTOS_TASK_H
#define STUB_FREERTOS_TASK_H

#include <FreeRTOS.h>

#define tskKERNEL_VERSION_NUMBER "stub"

typedef struct tskTaskControlBlock *TaskHandle_t;

TaskHandle_t xTaskCreateStatic(TaskFunction_t code, const char *name, const uint32_t depth,
                               void *parameters, UBaseType_t priority, StackType_t *stack,
                               StaticTask_t *buffer);
void vTaskDelete(TaskHandle_t task);
void vTaskStartScheduler(void);
void taskYIELD(void);
BaseType_t xTaskNotifyGive(TaskHandle_t task);
uint32_t ulTaskNotifyTake(BaseType_t clear, TickType_t ticks);

#endif
