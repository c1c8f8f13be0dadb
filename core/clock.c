// SPDX-License-Identifier: BSD-2-Clause
#include <cyc/clock.h>

#include <stddef.h>

#if defined(__x86_64__)

static uint64_t tsc_begin(void)
{
    return cyc_native_begin();
}

static uint64_t tsc_end(void)
{
    return cyc_native_end();
}

const struct cyc_clock cyc_clocks[] = {
    {.name = "tsc", .unit = "ticks", .begin = tsc_begin, .end = tsc_end},
    {.name = NULL},
};

#elif defined(__aarch64__) || (defined(__riscv) && __riscv_xlen == 64)

#define READER(name, counter)             \
    static uint64_t name(void)            \
    {                                     \
        uint64_t value;                   \
        CYC_READ_COUNTER(counter, value); \
        return value;                     \
    }

#if defined(__aarch64__)

READER(cntvct, "cntvct_el0")
READER(pmccntr, "pmccntr_el0")

const struct cyc_clock cyc_clocks[] = {
    {.name = "cntvct", .unit = "ticks", .begin = cntvct, .end = cntvct},
    {.name = "pmccntr", .unit = "cycles", .begin = pmccntr, .end = pmccntr},
    {.name = NULL},
};

#else

READER(cycle, "cycle")
READER(instret, "instret")
READER(time, "time")

const struct cyc_clock cyc_clocks[] = {
    {.name = "cycle", .unit = "cycles", .begin = cycle, .end = cycle},
    {.name = "instret", .unit = "instructions", .begin = instret, .end = instret},
    {.name = "time", .unit = "ticks", .begin = time, .end = time},
    {.name = NULL},
};

#endif

#else

const struct cyc_clock cyc_clocks[] = {{.name = NULL}};

#endif

static int same(const char *one, const char *other)
{
    for (; *one == *other; one++, other++)
        if (*one == '\0')
            return 1;
    return 0;
}

const struct cyc_clock *cyc_clock_find(const char *name)
{
    for (const struct cyc_clock *clock = cyc_clocks; clock->name != NULL; clock++)
        // The native clock is the first.
        if (name[0] == '\0' || same(clock->name, name))
            return clock;
    return NULL;
}
