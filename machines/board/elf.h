// SPDX-License-Identifier: BSD-2-Clause
//
// Loads a RISC-V ELF64 executable into RAM. The file is not trusted: every offset and size is
// checked before use.
#ifndef ELF_H
#define ELF_H

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bus.h"

namespace board {

// One sentence: what is wrong with the file and what to do.
struct BadImage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Physical addresses: the entry point, the first byte and the one behind the last.
struct Loaded {
    uint64_t entry, begin, end;
};

// Copies every PT_LOAD segment to its physical address; the rest of RAM is zero.
Loaded load_elf(const std::string &path, Ram &ram);

} // namespace board

#endif
