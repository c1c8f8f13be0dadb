// SPDX-License-Identifier: BSD-2-Clause
#include "idle_states.h"

#include <stdio.h>
#include <string.h>

static int read_file(char *text, int size, int cpu, int state, const char *file)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s", cpu, state,
             file);
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return 0;
    int got = fgets(text, size, stream) != NULL;
    fclose(stream);
    return got;
}

void idle_states_read(struct idle_states *states, int cpu)
{
    states->count = 0;
    for (int i = 0; i < IDLE_STATES_MAX; i++) {
        char *name = states->state[i].name, entered[24];
        if (!read_file(name, sizeof states->state[i].name, cpu, i, "name") ||
            !read_file(entered, sizeof entered, cpu, i, "usage") ||
            sscanf(entered, "%lld", &states->state[i].entered) != 1)
            return;
        name[strcspn(name, "\n")] = '\0';
        states->count = i + 1;
    }
}
