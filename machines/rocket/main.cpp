// SPDX-License-Identifier: BSD-2-Clause
//
// The board: the Rocket core's Verilog, as C++ by Verilator, with memory, devices and an image to run.
// README.md beside this file documents the options, the memory map and the exit codes.
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "Vrocket.h"
#include "Vrocket___024root.h"
#include "axi.h"
#include "bus.h"
#include "devicetree.h"
#include "elf.h"
#include "trace.h"

namespace rocket {

enum Exit { PASSED = 0, FAILED = 1, USAGE = 2, BROKEN = 5, BOUND = 124 };

struct Options {
    std::string image, append, trace;
    uint64_t memory_mib = 128;
    uint64_t max_cycles = 0; // 0: none
    Latency latency;
};

struct Usage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr const char *HELP = "usage: rocket [--append WORDS] [--memory-mib N] [--memory-latency CYCLES]\n"
                             "              [--memory-jitter SEED] [--max-cycles N] [--trace FILE] IMAGE.elf\n";
constexpr uint64_t LATENCY_MAX = 100000;
constexpr uint64_t TREE_BYTES = 0x10000; // of the end of RAM
constexpr uint64_t RESET_CYCLES = 20;
constexpr uint64_t FAULT_READS_MAX = 1000; // fetch may run ahead to where nothing is; so many reads are no accident

static uint64_t number(const std::string &option, const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < low || value > high)
        throw Usage(option + " " + text + " is no number from " + std::to_string(low) + " to " + std::to_string(high));
    return value;
}

static void take_option(Options &o, const std::string &option, const char *value)
{
    if (option == "--append") {
        o.append = value;
    } else if (option == "--trace") {
        o.trace = value;
    } else if (option == "--memory-mib") {
        o.memory_mib = number(option, value, 1, 2048);
    } else if (option == "--memory-latency") {
        o.latency.cycles = number(option, value, 0, LATENCY_MAX);
    } else if (option == "--memory-jitter") {
        o.latency.jitter = true;
        o.latency.seed = number(option, value, 0, UINT64_MAX);
    } else if (option == "--max-cycles") {
        o.max_cycles = number(option, value, 0, UINT64_MAX);
    } else {
        throw Usage("there is no option " + option);
    }
}

static Options read_options(int argc, char **argv)
{
    Options o;
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        if (word.rfind("--", 0) != 0) {
            if (!o.image.empty())
                throw Usage("there are two images, " + o.image + " and " + word + "; give one");
            o.image = word;
        } else if (i + 1 == argc) {
            throw Usage(word + " lacks its value");
        } else {
            take_option(o, word, argv[++i]);
        }
    }
    if (o.image.empty())
        throw Usage("no image is given");
    if (o.append.size() > TREE_BYTES / 2)
        throw Usage("--append is longer than a device tree here may be");
    return o;
}

#define AXI_SIGNALS(port)                                                                                              \
    {                                                                                                                  \
        top_.port##_aw_ready, top_.port##_aw_valid, top_.port##_aw_bits_id, top_.port##_aw_bits_addr,                  \
            top_.port##_aw_bits_size, top_.port##_w_ready, top_.port##_w_valid, top_.port##_w_bits_data,               \
            top_.port##_w_bits_strb, top_.port##_w_bits_last, top_.port##_b_ready, top_.port##_b_valid,                \
            top_.port##_b_bits_id, top_.port##_b_bits_resp, top_.port##_ar_ready, top_.port##_ar_valid,                \
            top_.port##_ar_bits_id, top_.port##_ar_bits_addr, top_.port##_ar_bits_len, top_.port##_ar_bits_size,       \
            top_.port##_r_ready, top_.port##_r_valid, top_.port##_r_bits_id, top_.port##_r_bits_data,                  \
            top_.port##_r_bits_resp, top_.port##_r_bits_last                                                           \
    }

// Memory and devices with the image in them. Throws BadImage.
struct Board {
    explicit Board(const Options &o)
        : ram(o.memory_mib << 20), tree_at(RAM_BASE + ram.bytes() - TREE_BYTES),
          devices(load_elf(o.image, ram), tree_at)
    {
        std::vector<uint8_t> tree = device_tree(o.append, ram.bytes());
        memcpy(ram.span(tree_at, tree.size()), tree.data(), tree.size());
    }

    Ram ram;
    uint64_t tree_at;
    Devices devices;
};

class Machine {
public:
    Machine(const Options &o, Board &board)
        : devices_(board.devices), memory_(AXI_SIGNALS(mem_axi4_0), board.ram, o.latency),
          mmio_(AXI_SIGNALS(mmio_axi4_0), board.devices, Latency{})
    {
        if (!o.trace.empty())
            tracer_.emplace(o.trace, *top_.rootp);
        top_.reset = 1;
        for (uint64_t i = 0; i < RESET_CYCLES; i++) {
            top_.clock = 0;
            top_.eval();
            top_.clock = 1;
            top_.eval();
        }
        top_.reset = 0;
    }

    ~Machine() { top_.final(); }

    // Until the image has finished, something went wrong, or the bound.
    Exit run(uint64_t max_cycles)
    {
        while (!devices_.finished()) {
            if (max_cycles != 0 && cycle_ == max_cycles)
                return stopped_at_bound();
            if (faulted(memory_.faults()) || faulted(mmio_.faults()))
                return BROKEN;
            step();
        }
        if (tracer_)
            tracer_->close();
        if (devices_.code() == 0)
            return PASSED;
        fprintf(stderr, "rocket: the image ended itself with code %d in cycle %" PRIu64 "\n", devices_.code(), cycle_);
        return FAILED;
    }

private:
    // One cycle: signals settle, hand-overs and retirement are seen, the clock rises, the ports offer anew.
    void step()
    {
        top_.clock = 0;
        top_.eval();
        memory_.take(cycle_);
        mmio_.take(cycle_);
        if (tracer_)
            tracer_->observe(cycle_);
        top_.clock = 1;
        top_.eval();
        cycle_++;
        memory_.offer(cycle_);
        mmio_.offer(cycle_);
    }

    uint64_t pc() const
    {
        return top_.rootp
            ->ExampleRocketSystem__DOT__tile_prci_domain__DOT__tile_reset_domain_tile__DOT__core__DOT__csr_io_trace_0_iaddr;
    }

    Exit stopped_at_bound() const
    {
        fprintf(stderr, "rocket: stopped by --max-cycles in cycle %" PRIu64 " near pc 0x%" PRIx64 "\n", cycle_, pc());
        return BOUND;
    }

    bool faulted(const Faults &faults) const
    {
        if (faults.writes == 0 && faults.reads <= FAULT_READS_MAX)
            return false;
        fprintf(stderr,
                "rocket: the core %s 0x%" PRIx64 ", where nothing is, in cycle %" PRIu64 " near pc 0x%" PRIx64
                "; README.md of machines/rocket has the memory map\n",
                faults.writes > 0 ? "wrote to" : "keeps reading from", faults.last_address, cycle_, pc());
        return true;
    }

    Vrocket top_;
    Devices &devices_;
    AxiPort memory_, mmio_;
    std::optional<Tracer> tracer_;
    uint64_t cycle_ = 0; // since reset
};

static int run(int argc, char **argv)
{
    Options options = read_options(argc, argv);
    Board board(options);
    auto machine = std::make_unique<Machine>(options, board);
    return machine->run(options.max_cycles);
}

} // namespace rocket

int main(int argc, char **argv)
{
    int code;
    try {
        code = rocket::run(argc, argv);
    } catch (const rocket::Usage &wrong) {
        fprintf(stderr, "rocket: %s\n%s", wrong.what(), rocket::HELP);
        code = rocket::USAGE;
    } catch (const rocket::BadImage &wrong) {
        fprintf(stderr, "rocket: %s\n", wrong.what());
        code = rocket::USAGE;
    } catch (const std::exception &wrong) {
        fprintf(stderr, "rocket: %s\n", wrong.what());
        code = rocket::BROKEN;
    }
    if (fflush(stdout) != 0)
        code = rocket::BROKEN;
    return code;
}
