// SPDX-License-Identifier: BSD-2-Clause
//
// Every family of circles, in the order in which they run.
#include "bench/kernel_circle.h"

extern const struct circle floor_circles[];
extern const struct circle hardware_circles[];
extern const struct circle thread_circles[];
extern const struct circle interrupt_circles[];
extern const struct circle semaphore_circles[];
extern const struct circle mutex_circles[];
extern const struct circle condvar_circles[];
extern const struct circle fifo_circles[];
extern const struct circle lifo_circles[];
extern const struct circle stack_circles[];
extern const struct circle event_set_circles[];
extern const struct circle heap_circles[];
extern const struct circle component_circles[];
extern const struct circle brand_circles[];
extern const struct circle scheduler_circles[];
extern const struct circle endpoint_circles[];
extern const struct circle notification_circles[];
extern const struct circle microkit_circles[];
extern const struct circle memory_circles[];

const struct circle *const families[] = {
    floor_circles,
    hardware_circles,
    thread_circles,
    interrupt_circles,
    semaphore_circles,
    mutex_circles,
    condvar_circles,
    fifo_circles,
    lifo_circles,
    stack_circles,
    event_set_circles,
    heap_circles,
    component_circles,
    brand_circles,
    scheduler_circles,
    endpoint_circles,
    notification_circles,
    microkit_circles,
#if CONFIG_SMP
    memory_circles,
#endif
    NULL,
};
