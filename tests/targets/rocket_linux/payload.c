// SPDX-License-Identifier: BSD-2-Clause
//
// A kernel that asks everything of the firmware that it offers, and prints the answers, a line
// each. test_firmware.py has the lines.
#include <stdint.h>

#define READ_CSR(name)                                                \
    ({                                                                \
        uint64_t value_;                                              \
        __asm__ volatile("csrr %0, " #name : "=r"(value_)::"memory"); \
        value_;                                                       \
    })
#define WRITE_CSR(name, value) \
    __asm__ volatile("csrw " #name ", %0" ::"r"((uint64_t)(value)) : "memory")

struct answer {
    int64_t error;
    uint64_t value;
};

static struct answer call(uint64_t extension, uint64_t function, uint64_t x, uint64_t y, uint64_t z)
{
    register uint64_t a0 __asm__("a0") = x, a1 __asm__("a1") = y, a2 __asm__("a2") = z;
    register uint64_t a6 __asm__("a6") = function, a7 __asm__("a7") = extension;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a6), "r"(a7) : "memory");
    return (struct answer){(int64_t)a0, a1};
}

enum {
    LEGACY_PUT_CHARACTER = 1,
    LEGACY_GET_CHARACTER = 2,
    BASE = 0x10,
    TIME = 0x54494d45,
    IPI = 0x735049,
    RFENCE = 0x52464e43,
    HSM = 0x48534d,
    RESET = 0x53525354,
    CONSOLE = 0x4442434e,
    COUNTERS = 0x504d55,
    UNKNOWN = 0x43505043,
};

static void print(const char *text)
{
    for (; *text != '\0'; text++)
        call(LEGACY_PUT_CHARACTER, 0, (uint8_t)*text, 0, 0);
}

static void print_number(const char *name, uint64_t value)
{
    static const char digits[] = "0123456789abcdef";
    char text[17] = "", *at = text + 16;
    do
        *--at = digits[value & 15];
    while ((value >>= 4) != 0);
    print(name);
    print(" ");
    print(at);
    print("\n");
}

static void print_answer(const char *name, struct answer answer)
{
    print(name);
    print(answer.error == 0 ? " ok" : answer.error == -2 ? " unsupported" : " refused");
    print_number("", answer.value);
}

// Traps that come to the kernel: what came last, and that the instruction was left out.
static volatile uint64_t cause, value, at;

__attribute__((aligned(4), interrupt("supervisor"))) static void on_trap(void)
{
    cause = READ_CSR(scause);
    value = READ_CSR(stval);
    at = READ_CSR(sepc);
    if (cause >> 63)
        WRITE_CSR(sie, 0);
    else
        WRITE_CSR(sepc, at + ((*(uint16_t *)at & 3) == 3 ? 4 : 2));
}

static void base(void)
{
    print_number("specification", call(BASE, 0, 0, 0, 0).value);
    print_number("implementation", call(BASE, 1, 0, 0, 0).value);
    static const uint64_t extensions[] = {0,   8,     TIME,    IPI,      RFENCE,
                                          HSM, RESET, CONSOLE, COUNTERS, UNKNOWN};
    for (uint64_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
        print_answer("probe", call(BASE, 3, extensions[i], 0, 0));
    print_number("marchid", call(BASE, 5, 0, 0, 0).value);
    print_answer("base 9", call(BASE, 9, 0, 0, 0));
    print_answer("unknown", call(UNKNOWN, 0, 0, 0, 0));
    print_answer("hart 0", call(HSM, 2, 0, 0, 0));
    print_answer("hart 1", call(HSM, 2, 1, 0, 0));
    print_answer("fence all", call(RFENCE, 1, 0, ~0UL, 0));
    print_answer("fence of another hart", call(RFENCE, 1, 2, 0, 0));
    for (uint64_t i = 0; i < 3; i++)
        print_answer("counter", call(COUNTERS, 1, i, 0, 0));
    print_answer("counter to stop", call(COUNTERS, 4, 0, 7, 0));
    print_number("getchar", (uint64_t)call(LEGACY_GET_CHARACTER, 0, 0, 0, 0).error);
}

static void console(void)
{
    static const char text[] = "by the debug console\n";
    print_answer("console", call(CONSOLE, 0, sizeof text - 1, (uint64_t)text, 0));
    print_answer("console at the firmware", call(CONSOLE, 0, 4, 0x80000000, 0));
    call(CONSOLE, 2, '!', 0, 0);
    print("\n");
}

// Every destination register holds the time, and no other register changes.
#define READ_TIME_INTO(number)                                                        \
    {                                                                                 \
        uint64_t before = READ_CSR(time), read, other;                                \
        __asm__ volatile("mv %1, sp\n\t"                                              \
                         "csrr x" #number ", time\n\t"                                \
                         "mv %0, x" #number "\n\t"                                    \
                         "mv sp, %1\n\t"                                              \
                         : "=&r"(read), "=&r"(other)                                  \
                         :                                                            \
                         : "x" #number);                                              \
        good += before <= read && read <= READ_CSR(time) && other == stack_pointer(); \
    }

static uint64_t stack_pointer(void)
{
    uint64_t sp;
    __asm__ volatile("mv %0, sp" : "=r"(sp));
    return sp;
}

static void time(void)
{
    uint64_t good = 0;
    READ_TIME_INTO(1)
    READ_TIME_INTO(5)
    READ_TIME_INTO(6)
    READ_TIME_INTO(7)
    READ_TIME_INTO(9)
    READ_TIME_INTO(10)
    READ_TIME_INTO(11)
    READ_TIME_INTO(12)
    READ_TIME_INTO(13)
    READ_TIME_INTO(14)
    READ_TIME_INTO(15)
    READ_TIME_INTO(16)
    READ_TIME_INTO(17)
    READ_TIME_INTO(18)
    READ_TIME_INTO(19)
    READ_TIME_INTO(20)
    READ_TIME_INTO(21)
    READ_TIME_INTO(22)
    READ_TIME_INTO(23)
    READ_TIME_INTO(24)
    READ_TIME_INTO(25)
    READ_TIME_INTO(26)
    READ_TIME_INTO(27)
    READ_TIME_INTO(28)
    READ_TIME_INTO(29)
    READ_TIME_INTO(30)
    READ_TIME_INTO(31)
    print_number("registers that took the time", good);
    uint64_t kept, read;
    __asm__ volatile("mv %0, sp\n\tcsrr sp, time\n\tmv %1, sp\n\tmv sp, %0\n\tcsrr x0, time"
                     : "=&r"(kept), "=&r"(read));
    print_number("sp took the time", read <= READ_CSR(time) && kept == stack_pointer());
}

static uint64_t await_interrupt(uint64_t enable)
{
    cause = 0;
    WRITE_CSR(sie, enable);
    __asm__ volatile("csrsi sstatus, 2");
    for (int i = 0; cause == 0 && i < 10000; i++)
        ;
    __asm__ volatile("csrci sstatus, 2");
    return cause;
}

static void interrupts(void)
{
    print_number("timer pending", READ_CSR(sip) >> 5 & 1);
    call(TIME, 0, READ_CSR(time) + 2, 0, 0);
    print_number("timer interrupt", await_interrupt(0x20));
    print_number("timer pending", READ_CSR(sip) >> 5 & 1);
    call(TIME, 0, ~0UL, 0, 0);
    print_number("timer pending", READ_CSR(sip) >> 5 & 1);
    print_answer("send", call(IPI, 0, 1, 0, 0));
    print_number("software interrupt", await_interrupt(0x2));
    __asm__ volatile("csrci sip, 2");
    print_answer("send to another hart", call(IPI, 0, 2, 0, 0));
    print_number("software pending", READ_CSR(sip) >> 1 & 1);
}

// The tables map 1 GiB as it is, and from FAR on one page with nothing behind it.
#define FAR 0x40000000UL
#define SV39 (8UL << 60)
#define SV48 (9UL << 60)
#define ASID (0xffffUL << 44)

static uint64_t root[512] __attribute__((aligned(4096)));
static uint64_t middle[512] __attribute__((aligned(4096)));
static uint64_t leaf[512] __attribute__((aligned(4096)));
static uint8_t page[4096] __attribute__((aligned(4096)));

static void translation(void)
{
    const uint64_t all = 0xcf;
    root[2] = 0x80000000 >> 2 | all;
    root[FAR >> 30] = (uint64_t)middle >> 2 | 1;
    middle[0] = (uint64_t)leaf >> 2 | 1;
    leaf[0] = (uint64_t)page >> 2 | all;
    uint64_t mine = (uint64_t)root >> 12;
    WRITE_CSR(satp, SV48 | mine);
    print_number("satp of Sv48", READ_CSR(satp));
    uint64_t old;
    __asm__ volatile("csrrw %0, satp, %1" : "=r"(old) : "r"(SV39 | mine) : "memory");
    __asm__ volatile("sfence.vma" ::: "memory");
    print_number("satp before", old);
    print_number("satp is ours", READ_CSR(satp) == (SV39 | mine));
    __asm__ volatile("csrrs %0, satp, %1" : "=r"(old) : "r"(ASID) : "memory");
    print_number("identifier bits", READ_CSR(satp) >> 44 & 0xffff);
    WRITE_CSR(satp, SV39 | mine);
    print_number("satp is ours", READ_CSR(satp) == (SV39 | mine));
}

static void illegal(void)
{
    cause = 0;
    uint64_t here;
    __asm__ volatile("la %0, 1f\n1: .word 0xc0102873 | 1 << 15" : "=&r"(here)::"a6", "memory");
    print_number("write of the time: cause", cause);
    print_number("write of the time: here", at == here);
    __asm__ volatile("la %0, 1f\n1: csrr t0, mstatus" : "=&r"(here)::"t0", "memory");
    print_number("CSR of machine mode: cause", cause);
    print_number("CSR of machine mode: here", at == here);
    __asm__ volatile("lb t0, 0(%0)" ::"r"(0x80000000UL) : "t0", "memory");
    print_number("firmware's memory: cause", cause);
    print_number("firmware's memory: address", value);
}

#define LOAD(instruction, address)                                                            \
    ({                                                                                        \
        uint64_t loaded_;                                                                     \
        __asm__ volatile(instruction " %0, 0(%1)" : "=r"(loaded_) : "r"(address) : "memory"); \
        loaded_;                                                                              \
    })
#define STORE(instruction, address, what) \
    __asm__ volatile(instruction " %0, 0(%1)" ::"r"((uint64_t)(what)), "r"(address) : "memory")
// The compressed forms have three bits for a register, and one that is the stack pointer's.
#define LOAD_COMPRESSED(instruction, address)                                          \
    ({                                                                                 \
        register uint64_t in_ __asm__("a0") = (uint64_t)(address);                     \
        register uint64_t out_ __asm__("a5");                                          \
        __asm__ volatile(instruction " a5, 0(a0)" : "=r"(out_) : "r"(in_) : "memory"); \
        out_;                                                                          \
    })
#define STORE_COMPRESSED(instruction, address, what)                                  \
    {                                                                                 \
        register uint64_t in_ __asm__("a0") = (uint64_t)(address);                    \
        register uint64_t what_ __asm__("a5") = (uint64_t)(what);                     \
        __asm__ volatile(instruction " a5, 0(a0)" ::"r"(what_), "r"(in_) : "memory"); \
    }
#define LOAD_BY_SP(instruction, address)                                                    \
    ({                                                                                      \
        uint64_t kept_, out_;                                                               \
        __asm__ volatile("mv %0, sp\n\tmv sp, %2\n\t" instruction " %1, 0(sp)\n\tmv sp, %0" \
                         : "=&r"(kept_), "=&r"(out_)                                        \
                         : "r"(address)                                                     \
                         : "memory");                                                       \
        out_;                                                                               \
    })

static void misaligned(void)
{
    static uint8_t bytes[32] __attribute__((aligned(8)));
    for (uint8_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(0x81 + i);
    print_number("lh", LOAD("lh", bytes + 1));
    print_number("lhu", LOAD("lhu", bytes + 1));
    print_number("lw", LOAD("lw", bytes + 3));
    print_number("lwu", LOAD("lwu", bytes + 3));
    print_number("ld", LOAD("ld", bytes + 5));
    print_number("c.lw", LOAD_COMPRESSED("c.lw", bytes + 2));
    print_number("c.ld", LOAD_COMPRESSED("c.ld", bytes + 7));
    print_number("c.lwsp", LOAD_BY_SP("c.lwsp", bytes + 2));
    print_number("c.ldsp", LOAD_BY_SP("c.ldsp", bytes + 2));
    STORE("sh", bytes + 1, 0x1112);
    STORE("sw", bytes + 3, 0x21222324);
    STORE("sd", bytes + 9, 0x3132333435363738);
    STORE_COMPRESSED("c.sw", bytes + 18, 0x41424344);
    STORE_COMPRESSED("c.sd", bytes + 23, 0x5152535455565758);
    for (int i = 0; i < 4; i++)
        print_number("stored", ((uint64_t *)bytes)[i]);
    __asm__ volatile("csrs sstatus, %0" ::"r"(0x6000UL));
    uint64_t single, whole;
    __asm__ volatile(".option push\n\t.option arch, +d\n\t"
                     "fld ft0, 1(%2)\n\tfsd ft0, 9(%2)\n\tflw fs11, 3(%2)\n\tfsw fs11, 17(%2)\n\t"
                     "fmv.x.d %0, fs11\n\tfmv.x.d %1, ft0\n\t.option pop"
                     : "=r"(single), "=r"(whole)
                     : "r"(bytes)
                     : "memory");
    print_number("flw", single);
    print_number("fld", whole);
    for (int i = 0; i < 4; i++)
        print_number("stored", ((uint64_t *)bytes)[i]);
}

static void faults(void)
{
    cause = 0;
    (void)LOAD("ld", FAR + 0xffc);
    print_number("load into a missing page: cause", cause);
    print_number("load into a missing page: address", value);
    STORE("sd", FAR + 0xffd, 0);
    print_number("store into a missing page: cause", cause);
    print_number("store into a missing page: address", value);
}

void main(uint64_t hart, uint64_t tree)
{
    (void)tree;
    WRITE_CSR(stvec, (uint64_t)on_trap);
    print_number("hart", hart);
    base();
    console();
    time();
    interrupts();
    translation();
    illegal();
    misaligned();
    faults();
    print_answer("reset of an unknown type", call(RESET, 0, 7, 0, 0));
    call(RESET, 0, 0, 0, 0);
}

__asm__(".section .start, \"ax\"\n"
        ".globl _start\n"
        "_start: la sp, stack_top\n"
        "        call main\n"
        ".bss\n.balign 16\n.skip 4096\nstack_top:\n"
        ".text\n");
