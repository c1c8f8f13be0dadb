// SPDX-License-Identifier: BSD-2-Clause
//
// RISC-V Supervisor Binary Interface Specification, version 2.0, for a machine of one hart.
#include "sbi.h"

#include "csr.h"
#include "devices.h"
#include "platform.h"

enum extension {
    LEGACY_SET_TIMER = 0x0,
    LEGACY_PUT_CHARACTER = 0x1,
    LEGACY_GET_CHARACTER = 0x2,
    LEGACY_SHUTDOWN = 0x8,
    BASE = 0x10,
    TIME = 0x54494d45,
    IPI = 0x735049,
    RFENCE = 0x52464e43,
    HSM = 0x48534d,
    SYSTEM_RESET = 0x53525354,
    DEBUG_CONSOLE = 0x4442434e,
    COUNTERS = 0x504d55, // "PMU"
};

enum error { SUCCESS = 0, NOT_SUPPORTED = -2, INVALID_PARAMETER = -3, ALREADY_STOPPED = -8 };

struct answer {
    int64_t error;
    uint64_t value;
};

#define SPECIFICATION_2_0 0x2000000
#define IMPLEMENTATION 0x637963 // "cyc"; not one of the registered numbers
// Those of the Rocket core. QEMU's differ from version to version, and a kernel may choose
// workarounds by them.
#define ROCKET_MARCHID 1
#define ROCKET_MIMPID 0x20181004

static uint64_t supports(uint64_t extension)
{
    switch (extension) {
    case LEGACY_SET_TIMER:
    case LEGACY_PUT_CHARACTER:
    case LEGACY_GET_CHARACTER:
    case LEGACY_SHUTDOWN:
    case BASE:
    case TIME:
    case IPI:
    case RFENCE:
    case HSM:
    case SYSTEM_RESET:
    case DEBUG_CONSOLE:
    case COUNTERS:
        return 1;
    default:
        return 0;
    }
}

enum base_function {
    GET_SPECIFICATION,
    GET_IMPLEMENTATION,
    GET_IMPLEMENTATION_VERSION,
    PROBE_EXTENSION,
    GET_MVENDORID,
    GET_MARCHID,
    GET_MIMPID,
};

static struct answer serve_base(uint64_t function, uint64_t extension)
{
    switch (function) {
    case GET_SPECIFICATION:
        return (struct answer){SUCCESS, SPECIFICATION_2_0};
    case GET_IMPLEMENTATION:
        return (struct answer){SUCCESS, IMPLEMENTATION};
    case GET_IMPLEMENTATION_VERSION:
        return (struct answer){SUCCESS, 1};
    case PROBE_EXTENSION:
        return (struct answer){SUCCESS, supports(extension)};
    case GET_MVENDORID:
        return (struct answer){SUCCESS, 0}; // not a commercial core
    case GET_MARCHID:
        return (struct answer){SUCCESS, ROCKET_MARCHID};
    case GET_MIMPID:
        return (struct answer){SUCCESS, ROCKET_MIMPID};
    }
    return (struct answer){NOT_SUPPORTED, 0};
}

// Harts are named by a mask that begins at a base; -1 names all. The only one here is number 0.
static int names_this_hart(uint64_t mask, uint64_t base)
{
    return base == ~0UL || (base == 0 && mask == 1);
}

static struct answer send_interrupt(uint64_t mask, uint64_t base)
{
    if (!names_this_hart(mask, base))
        return (struct answer){INVALID_PARAMETER, 0};
    SET_CSR(mip, INTERRUPT_SSI);
    return (struct answer){SUCCESS, 0};
}

// A fence for this hart, which is the one that asks, is a fence here.
static struct answer fence_remotely(uint64_t function, uint64_t mask, uint64_t base)
{
    if (function > 2) // the rest is for hypervisors
        return (struct answer){NOT_SUPPORTED, 0};
    if (!names_this_hart(mask, base))
        return (struct answer){INVALID_PARAMETER, 0};
    if (function == 0)
        __asm__ volatile("fence.i" ::: "memory");
    else
        __asm__ volatile("sfence.vma" ::: "memory");
    return (struct answer){SUCCESS, 0};
}

#define HART_GET_STATUS 2
#define HART_STARTED 0

static struct answer manage_harts(uint64_t function, uint64_t hart)
{
    if (function != HART_GET_STATUS)
        return (struct answer){NOT_SUPPORTED, 0};
    return (struct answer){hart == 0 ? SUCCESS : INVALID_PARAMETER, HART_STARTED};
}

static struct answer reset_system(uint64_t function, uint64_t type, uint64_t reason)
{
    if (function != 0)
        return (struct answer){NOT_SUPPORTED, 0};
    if (type > 2 || reason > 1)
        return (struct answer){INVALID_PARAMETER, 0};
    end_machine(reason != 0 ? FAILURE : type == 0 ? POWER_OFF : REBOOT);
}

enum { CONSOLE_WRITE, CONSOLE_READ, CONSOLE_WRITE_BYTE };

static struct answer use_console(uint64_t function, uint64_t count, uint64_t low, uint64_t high)
{
    if (function == CONSOLE_WRITE_BYTE) {
        put_character((uint8_t)count);
        return (struct answer){SUCCESS, 0};
    }
    if (function == CONSOLE_READ) // nothing is ever received
        return (struct answer){SUCCESS, 0};
    if (function != CONSOLE_WRITE)
        return (struct answer){NOT_SUPPORTED, 0};
    if (high != 0 || low < RAM_BASE + FIRMWARE_BYTES || low + count < low)
        return (struct answer){INVALID_PARAMETER, 0};
    for (uint64_t i = 0; i < count; i++)
        put_character(((const uint8_t *)low)[i]);
    return (struct answer){SUCCESS, count};
}

enum { COUNT_COUNTERS, DESCRIBE_COUNTER, STOP_COUNTERS = 4 };
#define WIDTH_64 (63UL << 12)
#define CSR_CYCLE 0xc00

// The counters are announced and nothing more: a kernel that knows of them can let its programs
// read them, and none can stop or set what measures it. Number 1 would be the time.
static struct answer use_counters(uint64_t function, uint64_t number)
{
    if (function == COUNT_COUNTERS)
        return (struct answer){SUCCESS, 3};
    if (function == STOP_COUNTERS)
        return (struct answer){ALREADY_STOPPED, 0};
    if (function != DESCRIBE_COUNTER)
        return (struct answer){NOT_SUPPORTED, 0};
    if (number != 0 && number != 2)
        return (struct answer){INVALID_PARAMETER, 0};
    return (struct answer){SUCCESS, WIDTH_64 | (CSR_CYCLE + number)};
}

static struct answer answer_call(const uint64_t *argument, uint64_t extension, uint64_t function)
{
    switch (extension) {
    case BASE:
        return serve_base(function, argument[0]);
    case TIME:
        if (function != 0)
            break;
        set_timer(argument[0]);
        return (struct answer){SUCCESS, 0};
    case IPI:
        if (function != 0)
            break;
        return send_interrupt(argument[0], argument[1]);
    case RFENCE:
        return fence_remotely(function, argument[0], argument[1]);
    case HSM:
        return manage_harts(function, argument[0]);
    case SYSTEM_RESET:
        return reset_system(function, argument[0], argument[1]);
    case DEBUG_CONSOLE:
        return use_console(function, argument[0], argument[1], argument[2]);
    case COUNTERS:
        return use_counters(function, argument[0]);
    }
    return (struct answer){NOT_SUPPORTED, 0};
}

// The calls of version 0.1, which have no function number and return one value.
static int64_t answer_legacy_call(uint64_t extension, uint64_t argument)
{
    if (extension == LEGACY_SET_TIMER)
        set_timer(argument);
    else if (extension == LEGACY_PUT_CHARACTER)
        put_character((uint8_t)argument);
    else if (extension == LEGACY_SHUTDOWN)
        end_machine(POWER_OFF);
    else
        return extension == LEGACY_GET_CHARACTER ? -1 : NOT_SUPPORTED;
    return SUCCESS;
}

void serve_call(struct frame *frame)
{
    uint64_t *argument = &frame->x[10], function = frame->x[16], extension = frame->x[17];
    frame->pc += 4;
    if (extension < BASE) {
        argument[0] = (uint64_t)answer_legacy_call(extension, argument[0]);
        return;
    }
    struct answer answer = answer_call(argument, extension, function);
    argument[0] = (uint64_t)answer.error;
    argument[1] = answer.value;
}
