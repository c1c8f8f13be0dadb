// SPDX-License-Identifier: BSD-2-Clause
#include "elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace board {

static std::vector<uint8_t> read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw BadImage(path + " cannot be opened; name an ELF file");
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    if (file.bad())
        throw BadImage(path + " cannot be read; name an ELF file");
    return bytes;
}

static Elf64_Ehdr read_header(const std::string &path, const std::vector<uint8_t> &bytes)
{
    Elf64_Ehdr header;
    if (bytes.size() < sizeof header || memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
        throw BadImage(path +
                       " is not an ELF file; give the linked kernel, not a raw binary of it");
    memcpy(&header, bytes.data(), sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != EM_RISCV || header.e_type != ET_EXEC)
        throw BadImage(path + " is not a 64-bit RISC-V executable linked to fixed addresses; this "
                              "core runs nothing else");
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > bytes.size() ||
        header.e_phnum > (bytes.size() - header.e_phoff) / sizeof(Elf64_Phdr))
        throw BadImage(path + " has program headers beyond its end; link it again");
    return header;
}

static std::string hex(uint64_t value)
{
    char text[19];
    snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

static void load_segment(const std::string &path, const std::vector<uint8_t> &bytes,
                         const Elf64_Phdr &p, Ram &ram)
{
    if (p.p_filesz > p.p_memsz || p.p_offset > bytes.size() ||
        p.p_filesz > bytes.size() - p.p_offset)
        throw BadImage(path + " has a segment beyond its end; link it again");
    uint8_t *to = ram.span(p.p_paddr, p.p_memsz);
    if (to == nullptr)
        throw BadImage(path + " has " + hex(p.p_memsz) + " bytes for " + hex(p.p_paddr) +
                       ", outside RAM (" + hex(RAM_BASE) + " to " + hex(RAM_BASE + ram.bytes()) +
                       "); link it there or raise --memory-mib");
    if (p.p_filesz > 0)
        memcpy(to, bytes.data() + p.p_offset, p.p_filesz);
    memset(to + p.p_filesz, 0, p.p_memsz - p.p_filesz);
}

// An entry point is a virtual address; the hart starts without translation.
static uint64_t physical(uint64_t entry, const std::vector<Elf64_Phdr> &segments)
{
    for (const Elf64_Phdr &p : segments)
        if (entry >= p.p_vaddr && entry - p.p_vaddr < p.p_memsz)
            return entry - p.p_vaddr + p.p_paddr;
    return entry;
}

Loaded load_elf(const std::string &path, Ram &ram)
{
    std::vector<uint8_t> bytes = read_file(path);
    Elf64_Ehdr header = read_header(path, bytes);
    std::vector<Elf64_Phdr> loaded;
    uint64_t begin = ~0ull, end = 0;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, bytes.data() + header.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type != PT_LOAD || p.p_memsz == 0)
            continue;
        load_segment(path, bytes, p, ram);
        loaded.push_back(p);
        begin = std::min(begin, p.p_paddr);
        end = std::max(end, p.p_paddr + p.p_memsz);
    }
    uint64_t entry = physical(header.e_entry, loaded);
    if (ram.span(entry, 4) == nullptr || entry % 2 != 0)
        throw BadImage(path + " starts at " + hex(entry) +
                       ", where no instruction can be; link it into RAM");
    return {entry, begin, end};
}

} // namespace board
