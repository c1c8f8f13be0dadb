// SPDX-License-Identifier: BSD-2-Clause
#include "trace_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace board {

// slti x0, x0, 0x7c1 and 0x7c2: core/clock.h
constexpr uint32_t HINT_OPEN = 0x7c102013, HINT_CLOSE = 0x7c202013;

TraceFile::TraceFile(const std::string &path) : path_(path), file_(fopen(path.c_str(), "wb"))
{
    const TraceHeader header = {{'C', 'Y', 'C', 'T', 'R', 'A', 'C', 'E'}, 1, sizeof(TraceStep)};
    if (file_ == nullptr)
        throw std::runtime_error("the trace " + path + " cannot be written: " + strerror(errno));
    fwrite(&header, sizeof header, 1, file_);
}

TraceFile::~TraceFile()
{
    if (file_ != nullptr)
        fclose(file_);
}

void TraceFile::close()
{
    bool failed = ferror(file_) != 0;
    failed |= fclose(file_) != 0;
    file_ = nullptr;
    if (failed)
        throw std::runtime_error("the trace " + path_ + " is not whole; is the disk full?");
}

void TraceFile::add(TraceStep step, uint64_t root_page)
{
    bool retired = step.flags == 0;
    if (retired && step.insn == HINT_OPEN)
        open_ = true;
    if (open_) {
        step.space = space(root_page);
        fwrite(&step, sizeof step, 1, file_);
    }
    if (retired && step.insn == HINT_CLOSE)
        open_ = false;
}

uint16_t TraceFile::space(uint64_t root_page)
{
    if (root_page == 0)
        return 0;
    auto number = static_cast<uint16_t>(spaces_.size() + 1);
    return spaces_.emplace(root_page, number).first->second;
}

} // namespace board
