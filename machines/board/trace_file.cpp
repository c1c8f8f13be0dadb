// SPDX-License-Identifier: BSD-2-Clause
#include "trace_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace board {

// slti x0, x0, 0x7c1 and 0x7c2: core/clock.h
constexpr uint32_t HINT_OPEN = 0x7c102013, HINT_CLOSE = 0x7c202013;

// jal and jalr that link to ra or t0, and c.jalr (RISC-V Unprivileged ISA, section 2.5.1)
static bool is_call(uint32_t insn)
{
    return (insn & 0xfff) == 0x0ef || (insn & 0xfff) == 0x2ef || (insn & 0x7fff) == 0x0e7 ||
           (insn & 0x7fff) == 0x2e7 || ((insn & 0xf07f) == 0x9002 && (insn >> 7 & 31) != 0);
}

TraceFile::TraceFile(const TraceOptions &options)
    : path_(options.path), span_(options.span), file_(fopen(options.path.c_str(), "wb"))
{
    const TraceHeader header = {{'C', 'Y', 'C', 'T', 'R', 'A', 'C', 'E'}, 1, sizeof(TraceStep)};
    if (file_ == nullptr)
        throw std::runtime_error("the trace " + path_ + " cannot be written: " + strerror(errno));
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
    step.space = space(root_page);
    if (span_)
        between_addresses(step);
    else
        between_hints(step);
    before_ = step;
}

void TraceFile::between_hints(const TraceStep &step)
{
    bool retired = step.flags == 0;
    if (retired && step.insn == HINT_OPEN)
        open_ = true;
    if (open_)
        write(step);
    if (retired && step.insn == HINT_CLOSE)
        open_ = false;
}

// A window is the step before it, its own, and the one at its end, so that a reader needs no other
// knowledge to part them. Where an interrupt comes before an instruction, it has not executed.
void TraceFile::between_addresses(const TraceStep &step)
{
    if (step.flags & INTERRUPTED) {
        if (open_)
            write(step);
        return;
    }
    if (open_) {
        write(step);
        if (step.pc != to_)
            return;
        open_ = false;
        written_++;
    }
    if (step.pc == span_->from && !complete() && enters()) {
        write(before_);
        write(step);
    }
}

// Whether a window begins here; sets where it ends. An entry by anything but a call has no return
// that we could know.
bool TraceFile::enters()
{
    bool called = before_.flags == 0 && is_call(before_.insn);
    if ((span_->to == 0 && !called) || seen_++ < span_->skip)
        return false;
    to_ = span_->to != 0 ? span_->to : before_.pc + ((before_.insn & 3) == 3 ? 4 : 2);
    return open_ = true;
}

void TraceFile::write(const TraceStep &step)
{
    fwrite(&step, sizeof step, 1, file_);
}

uint16_t TraceFile::space(uint64_t root_page)
{
    if (root_page == 0)
        return 0;
    auto number = static_cast<uint16_t>(spaces_.size() + 1);
    return spaces_.emplace(root_page, number).first->second;
}

} // namespace board
