// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "exit_image.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_EXEC // Linux 6.3; older kernels refuse the flag and need none
#define MFD_EXEC 0x10U
#endif

#if defined(__x86_64__)
#define MACHINE EM_X86_64
static const uint8_t code[] = {
    0x31, 0xff,                   // xor edi, edi
    0xb8, 0x3c, 0x00, 0x00, 0x00, // mov eax, 60 (exit)
    0x0f, 0x05,                   // syscall
};
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
static const uint32_t code[] = {
    0xd2800000, // mov x0, #0
    0xd2800ba8, // mov x8, #93 (exit)
    0xd4000001, // svc #0
};
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE EM_RISCV
static const uint32_t code[] = {
    0x00000513, // li a0, 0
    0x05d00893, // li a7, 93 (exit)
    0x00000073, // ecall
};
#else
#error "no program for this architecture; add its exit to linux/circles/exit_image.c"
#endif

#define BASE 0x10000 // a multiple of every page size, above vm.mmap_min_addr's usual value

static const struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint8_t text[sizeof code];
} skeleton = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_EXEC,
               .e_machine = MACHINE,
               .e_version = EV_CURRENT,
               .e_entry = BASE + offsetof(struct image, text),
               .e_phoff = offsetof(struct image, segment),
               .e_ehsize = sizeof(Elf64_Ehdr),
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 1},
    .segment = {.p_type = PT_LOAD,
                .p_flags = PF_R | PF_X,
                .p_vaddr = BASE,
                .p_filesz = sizeof(struct image),
                .p_memsz = sizeof(struct image),
                .p_align = BASE},
};

int exit_image_open(void)
{
    struct image image = skeleton;
    int fd = memfd_create("exit", MFD_CLOEXEC | MFD_EXEC);
    if (fd < 0)
        // A kernel before 6.3.
        fd = memfd_create("exit", MFD_CLOEXEC);
    __builtin_memcpy(image.text, code, sizeof code);
    if (fd >= 0 && write(fd, &image, sizeof image) != (ssize_t)sizeof image) {
        close(fd);
        return -1;
    }
    return fd;
}

void exit_image_exec(int fd)
{
    char *const arguments[] = {"exit", NULL}, *const environment[] = {NULL};
    syscall(SYS_execveat, fd, "", arguments, environment, AT_EMPTY_PATH);
}
