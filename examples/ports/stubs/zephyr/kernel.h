// SPDX-License-Identifier: BSD-2-Clause
//
// What the port in ../../zephyr uses of Zephyr, declared only, so that a compiler can check the
// port without it. Follows the documented interface of Zephyr 3.7 and 4.
#ifndef STUB_ZEPHYR_KERNEL_H
#define STUB_ZEPHYR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define CONFIG_BOARD "stub"
#define CONFIG_CYCLOMETER_ARGUMENTS ""

typedef struct {
    int64_t ticks;
} k_timeout_t;
#define K_FOREVER ((k_timeout_t){-1})
#define K_NO_WAIT ((k_timeout_t){0})

struct k_thread {
    void *opaque[32];
};
struct k_sem {
    void *opaque[8];
};
typedef struct k_thread *k_tid_t;
typedef struct {
    char byte;
} k_thread_stack_t;
typedef void (*k_thread_entry_t)(void *p1, void *p2, void *p3);

#define K_THREAD_STACK_DEFINE(name, size) static k_thread_stack_t name[size]
#define K_THREAD_STACK_SIZEOF(name) sizeof(name)
#define ARG_UNUSED(arg) (void)(arg)

k_tid_t k_thread_create(struct k_thread *new_thread, k_thread_stack_t *stack, size_t stack_size,
                        k_thread_entry_t entry, void *p1, void *p2, void *p3, int prio,
                        uint32_t options, k_timeout_t delay);
void k_thread_abort(k_tid_t thread);
void k_thread_priority_set(k_tid_t thread, int prio);
k_tid_t k_current_get(void);
void k_yield(void);
int k_sem_init(struct k_sem *sem, unsigned int initial_count, unsigned int limit);
int k_sem_take(struct k_sem *sem, k_timeout_t timeout);
void k_sem_give(struct k_sem *sem);
uint64_t k_cycle_get_64(void);
int sys_clock_hw_cycles_per_sec(void);

#endif
