// SPDX-License-Identifier: BSD-2-Clause
//
// How often a CPU entered each of its idle states, by the kernel's names (Documentation/
// admin-guide/pm/cpuidle.rst).
#ifndef LINUX_IDLE_STATES_H
#define LINUX_IDLE_STATES_H

#define IDLE_STATES_MAX 16

struct idle_states {
    struct {
        char name[24];
        long long entered;
    } state[IDLE_STATES_MAX];
    int count; // 0 where the kernel has no driver that counts them
};

void idle_states_read(struct idle_states *states, int cpu);

#endif
