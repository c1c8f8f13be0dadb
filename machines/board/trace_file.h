// SPDX-License-Identifier: BSD-2-Clause
//
// The file of what ran between the hints of core/clock.h, or between two addresses: every
// instruction, with the cycles since the one before it by cause. FORMAT.md has the bytes.
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

namespace board {

enum Cause : uint8_t {
    ISSUE,
    ICACHE,
    DCACHE,
    TLB,
    BRANCH,
    TRAP,
    CSR,
    MULDIV,
    MMIO,
    STORE,
    INTERLOCK,
    UNATTRIBUTED,
    CAUSES
};

// Sixteen bytes of header, then steps, little-endian, without padding.
struct TraceHeader {
    char magic[8];
    uint32_t version, step_bytes;
};
static_assert(sizeof(TraceHeader) == 16, "the header is 16 bytes");

struct TraceStep {
    uint64_t clock; // cycle in which it retired
    uint64_t pc;
    uint32_t insn;
    uint8_t privilege; // 0 user, 1 supervisor, 3 machine
    uint8_t flags;     // bit 0: trapped instead of retiring; bit 1: an interrupt was taken here;
                       // bits 2 to 4: the hart; bit 5: see GIVEN_UP
    uint16_t space;    // 0 without translation, else numbered by page table in order of appearance
    uint32_t cause_cyc[CAUSES];
};
static_assert(sizeof(TraceStep) == 72, "a step is 72 bytes");

constexpr uint8_t TRAPPED = 1, INTERRUPTED = 2;
constexpr unsigned HART_SHIFT = 2;
constexpr uint8_t GIVEN_UP = 32; // its data was in the cache of another hart, which gave it up

// From an execution of one address to the next of another, wherever an image has no hints.
struct Span {
    uint64_t from = 0;
    uint64_t to = 0;    // 0: where the call that led to `from` returns
    uint64_t skip = 0;  // executions of `from` before the first that is written
    uint64_t count = 0; // windows to write, 0: all
};

// What to trace: nothing without a path, else between the hints or in a span.
struct TraceOptions {
    std::string path;
    std::optional<Span> span;
};

class TraceFile {
  public:
    // Throws std::runtime_error if the file cannot be made.
    explicit TraceFile(const TraceOptions &options);
    ~TraceFile();
    // All steps in order; those of a window are written, with the number of their address space.
    // `root_page` is the physical page of its root table, 0 without translation.
    void add(TraceStep step, uint64_t root_page);
    // Whether all windows of the span are written.
    bool complete() const
    {
        return span_ && span_->count != 0 && written_ == span_->count;
    }
    // Throws std::runtime_error if not all could be written.
    void close();

  private:
    void between_hints(const TraceStep &step);
    void between_addresses(const TraceStep &step);
    bool enters();
    void write(const TraceStep &step);
    uint16_t space(uint64_t root_page);

    std::string path_;
    std::optional<Span> span_;
    FILE *file_;
    bool open_ = false; // inside a window
    uint64_t to_ = 0;   // the address that ends the open window of a span
    uint64_t seen_ = 0, written_ = 0;
    TraceStep before_ = {};
    std::map<uint64_t, uint16_t> spaces_;
};

} // namespace board

#endif
