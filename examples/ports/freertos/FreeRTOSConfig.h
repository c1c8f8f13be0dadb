// SPDX-License-Identifier: BSD-2-Clause
//
// FreeRTOS 11 on QEMU's machine `virt`, in machine mode; only what the circles use.
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configMTIME_BASE_ADDRESS 0x200bff8u
#define configMTIMECMP_BASE_ADDRESS 0x2004000u
#define configCPU_CLOCK_HZ 10000000u // what mtime counts at
#define configTICK_RATE_HZ 100
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_64_BITS

#define configUSE_PREEMPTION 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0 // would take a function of libgcc
#define configUSE_TIME_SLICING 0 // two tasks of one priority run until they give up the processor
#define configMAX_PRIORITIES 8
#define configMINIMAL_STACK_SIZE 512
#define configISR_STACK_SIZE_WORDS 512
#define configMAX_TASK_NAME_LEN 16
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TIMERS 0
#define configUSE_MUTEXES 1
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configCHECK_FOR_STACK_OVERFLOW 0

#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1

// Counts thread switches for the contracts.
#define traceTASK_SWITCHED_IN() (port_switches++)
#ifndef __ASSEMBLER__
extern long long port_switches;
#endif

#endif
