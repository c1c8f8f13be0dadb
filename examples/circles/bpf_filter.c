// SPDX-License-Identifier: BSD-2-Clause
//
// What an eBPF program costs where it runs: a datagram to oneself over a UNIX socket pair, without
// and with a socket filter that accepts everything. The difference of the two is the program's run.
//   cyclometer run --circles examples/circles/bpf_filter.c --only 'bpf.*'
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux_circle.h"

static int ends[2];

// The variant: instructions of the program between its first and its last.
struct filter {
    int length; // 0: no program at all
};

enum { PROGRAM_MAX = 64 };

// r0 = -1 (accept the whole datagram); some additions to r1; exit.
static int load(int length)
{
    static struct bpf_insn program[PROGRAM_MAX];
    program[0] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = -1};
    program[1] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1};
    for (int i = 2; i < length - 1; i++)
        program[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = 1};
    program[length - 1] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
    union bpf_attr attr = {
        .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
        .insns = (uintptr_t)program,
        .insn_cnt = (uint32_t)length,
        .license = (uintptr_t)"BSD",
    };
    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
}

static void set_up(const struct linux_circle *self)
{
    const struct filter *filter = self->variant;
    must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), "socketpair");
    if (filter->length == 0)
        return;
    int program = load(filter->length);
    if (program < 0)
        circle_skip("this kernel refuses to load an eBPF program (CONFIG_BPF_SYSCALL, or root)");
    must(setsockopt(ends[1], SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof program),
         "setsockopt(SO_ATTACH_BPF)");
}

static void datagrams(void *arg, uint64_t turns)
{
    char byte = 0;
    (void)arg;
    for (; turns > 0; turns--) {
        must(write(ends[0], &byte, 1), "write");
        must(read(ends[1], &byte, 1), "read");
    }
}

#define DATAGRAM                                                                           \
    .sequence = CYC_SEQUENCE("client: write", "client: read returns at once"),             \
    .from = "client: before write", .to = "client: after read",                            \
    .expect = CYC_EXPECT({"entries", 2}, {"switches", 0}, {"faults", 0}), .setup = set_up, \
    .turns = datagrams, .client = 50

CIRCLE("bpf.filter.none") = {
    .title = "Datagram to oneself, no filter",
    DATAGRAM,
    .variant = &(const struct filter){.length = 0},
};

CIRCLE("bpf.filter.insns_3") = {
    .title = "Datagram to oneself through an eBPF program of 3 instructions",
    DATAGRAM,
    .params = CYC_PARAMS({"instructions", "3"}),
    .variant = &(const struct filter){.length = 3},
};

CIRCLE("bpf.filter.insns_64") = {
    .title = "Datagram to oneself through an eBPF program of 64 instructions",
    DATAGRAM,
    .params = CYC_PARAMS({"instructions", "64"}),
    .variant = &(const struct filter){.length = 64},
};
