// SPDX-License-Identifier: BSD-2-Clause
//
// The board: a core's Verilog, as C++ by Verilator, with memory, devices and an image to run.
// README.md beside this file documents the options, the memory map and the exit codes.
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "axi.h"
#include "bus.h"
#include "core.h"
#include "devicetree.h"
#include "elf.h"
#include "forks.h"

namespace board {

enum Exit { PASSED = 0, FAILED = 1, USAGE = 2, IDLE = 3, BROKEN = 5, BOUND = 124 };

struct Options {
    std::string image, firmware, append;
    TraceOptions trace;
    Span span;
    uint64_t memory_mib = 128;
    uint64_t max_cycles = 0; // 0: none
    uint64_t time = 0;       // of mtime, at reset
    bool leap = false;
    Latency latency;
    ForkOptions forks;
};

struct Usage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr const char *HELP =
    "usage: %s [--append WORDS] [--firmware FILE.elf] [--memory-mib N]\n"
    "              [--memory-latency CYCLES] [--memory-jitter SEED] [--max-cycles N]\n"
    "              [--time TICKS] [--leap] [--forks FILE] [--at-once N] [--bound-s N]\n"
    "              [--trace FILE]\n"
    "              [--trace-from PC] [--trace-to PC] [--trace-skip N] [--trace-count N] "
    "IMAGE.elf\n";
constexpr uint64_t LATENCY_MAX = 100000;
constexpr uint64_t FORKS_MAX = 1024, BOUND_MAX_S = 86400;
constexpr uint64_t TREE_BYTES = 0x10000; // of the end of RAM
constexpr uint64_t RESET_CYCLES = 20;
constexpr uint64_t IDLE_CYCLES = 1000; // then whatever was under way has ended
constexpr uint64_t FAULT_READS_MAX =
    1000; // fetch may run ahead to where nothing is; so many reads are not an accident

static uint64_t number(const std::string &option, const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || value < low || value > high)
        throw Usage(option + " " + text + " is not a number from " + std::to_string(low) + " to " +
                    std::to_string(high));
    return value;
}

static void take_option(Options &o, const std::string &option, const char *value)
{
    if (option == "--append") {
        o.append = value;
    } else if (option == "--firmware") {
        o.firmware = value;
    } else if (option == "--time") {
        o.time = number(option, value, 0, UINT64_MAX);
    } else if (option == "--trace") {
        o.trace.path = value;
    } else if (option == "--trace-from") {
        o.span.from = number(option, value, 1, UINT64_MAX);
    } else if (option == "--trace-to") {
        o.span.to = number(option, value, 1, UINT64_MAX);
    } else if (option == "--trace-skip") {
        o.span.skip = number(option, value, 0, UINT64_MAX);
    } else if (option == "--trace-count") {
        o.span.count = number(option, value, 1, UINT64_MAX);
    } else if (option == "--memory-mib") {
        o.memory_mib = number(option, value, 1, 2048);
    } else if (option == "--memory-latency") {
        o.latency.cycles = number(option, value, 0, LATENCY_MAX);
    } else if (option == "--memory-jitter") {
        o.latency.jitter = true;
        o.latency.seed = number(option, value, 0, UINT64_MAX);
    } else if (option == "--max-cycles") {
        o.max_cycles = number(option, value, 0, UINT64_MAX);
    } else if (option == "--forks") {
        o.forks.path = value;
    } else if (option == "--at-once") {
        o.forks.at_once = static_cast<unsigned>(number(option, value, 1, FORKS_MAX));
    } else if (option == "--bound-s") {
        o.forks.bound_s = static_cast<unsigned>(number(option, value, 1, BOUND_MAX_S));
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
        } else if (word == "--leap") {
            o.leap = true;
        } else if (i + 1 == argc) {
            throw Usage(word + " lacks its value");
        } else {
            take_option(o, word, argv[++i]);
        }
    }
    if (o.image.empty())
        throw Usage("no image is given");
    if (o.span.from != 0)
        o.trace.span = o.span;
    else if (o.span.to != 0 || o.span.skip != 0 || o.span.count != 0)
        throw Usage("a span begins somewhere; give --trace-from");
    if (!o.forks.path.empty() && (!o.append.empty() || !o.trace.path.empty()))
        throw Usage("--forks has the arguments of each boot, and its boots have no trace; leave "
                    "out --append and --trace");
    return o;
}

// What starts first, or 0 where no firmware is asked for. Throws BadImage.
static uint64_t load_firmware(const Options &o, const Loaded &image, Ram &ram)
{
    if (o.firmware.empty())
        return 0;
    Loaded firmware = load_elf(o.firmware, ram);
    if (image.begin < firmware.end && firmware.begin < image.end)
        throw BadImage(o.image + " lies where " + o.firmware +
                       " does; link it behind the firmware, at 0x80200000, or leave out "
                       "--firmware");
    return firmware.entry;
}

// Memory and devices with the image in them. Throws BadImage.
struct Board {
    explicit Board(const Options &o)
        : ram(o.memory_mib << 20), tree_at(RAM_BASE + ram.bytes() - TREE_BYTES),
          image(load_elf(o.image, ram)), devices(image.entry, tree_at, load_firmware(o, image, ram))
    {
        write_tree(o.append);
    }

    // Throws Usage.
    void write_tree(const std::string &arguments)
    {
        if (arguments.size() > TREE_BYTES / 2)
            throw Usage("--append is longer than a device tree here may be");
        std::vector<uint8_t> tree = device_tree(DESCRIPTION, arguments, ram.bytes());
        memcpy(ram.span(tree_at, tree.size()), tree.data(), tree.size());
    }

    Ram ram;
    uint64_t tree_at;
    Loaded image;
    Devices devices;
};

static volatile std::sig_atomic_t asked_to_end;

static void ask_to_end(int signal)
{
    asked_to_end = signal;
}

class Machine {
  public:
    Machine(const Options &o, Board &board)
        : core_(make_core(o.trace)), devices_(board.devices),
          map_(board.ram, board.devices, core_->inside()),
          memory_(map_, o.latency, DESCRIPTION.memory_width_bytes), mmio_(map_, Latency{}, 8),
          leap_(o.leap)
    {
        core_->respond(Port::MEMORY, AxiResponse{});
        core_->respond(Port::DEVICES, AxiResponse{});
        core_->interrupt(0);
        core_->reset(true);
        for (uint64_t i = 0; i < RESET_CYCLES; i++) {
            core_->clock(false);
            core_->clock(true);
        }
        core_->reset(false);
        core_->set_time(o.time);
    }

    // Until the image has finished, all of a span is traced, something went wrong, the bound, or
    // SIGTERM; the trace is whole then.
    Exit run(uint64_t max_cycles)
    {
        while (!devices_.finished() && !core_->traced()) {
            if (max_cycles != 0 && cycle_ == max_cycles)
                return stopped("--max-cycles");
            if (asked_to_end)
                return stopped(asked_to_end == SIGALRM ? "--bound-s" : "SIGTERM");
            if (faulted(memory_.faults()) || faulted(mmio_.faults()))
                return BROKEN;
            if (lost_cycles_ == IDLE_CYCLES)
                return idle();
            step();
        }
        core_->close_trace();
        if (devices_.code() == 0)
            return PASSED;
        fprintf(stderr, "%s: the image ended itself with code %d in cycle %" PRIu64 "\n",
                DESCRIPTION.name, devices_.code(), cycle_);
        return FAILED;
    }

  private:
    // One cycle: signals settle, hand-overs and retirement are seen, the clock rises, the ports
    // and the interrupt lines offer anew.
    void step()
    {
        core_->clock(false);
        memory_.take(core_->request(Port::MEMORY), cycle_);
        mmio_.take(core_->request(Port::DEVICES), cycle_);
        core_->observe(cycle_);
        look_for_idleness();
        core_->clock(true);
        cycle_++;
        core_->respond(Port::MEMORY, memory_.offer(cycle_));
        core_->respond(Port::DEVICES, mmio_.offer(cycle_));
        core_->interrupt(devices_.interrupts());
    }

    // What all harts wait for can only be a timer: no byte ever comes, and the UART is empty.
    void look_for_idleness()
    {
        bool waits = core_->waits();
        waited_cycles_ = waits ? waited_cycles_ + 1 : 0;
        lost_cycles_ = waits && !core_->timer_ahead() ? lost_cycles_ + 1 : 0;
        if (leap_ && waited_cycles_ == IDLE_CYCLES)
            core_->leap();
    }

    // An end like another, but for its code: an image may have nothing more to do.
    Exit idle()
    {
        core_->close_trace();
        fprintf(stderr, "%s: idle for ever, without a timer, in cycle %" PRIu64 ":",
                DESCRIPTION.name, cycle_);
        for (uint32_t hart = 0; hart < DESCRIPTION.harts; hart++)
            fprintf(stderr, "%s hart %" PRIu32 " near pc 0x%" PRIx64, hart > 0 ? "," : "", hart,
                    core_->pc(hart));
        fprintf(stderr, "\n");
        return IDLE;
    }

    Exit stopped(const char *by)
    {
        core_->close_trace();
        fprintf(stderr, "%s: stopped by %s in cycle %" PRIu64 " near pc 0x%" PRIx64 "\n",
                DESCRIPTION.name, by, cycle_, core_->pc(0));
        return BOUND;
    }

    bool faulted(const Faults &faults) const
    {
        if (faults.writes == 0 && faults.reads <= FAULT_READS_MAX)
            return false;
        fprintf(stderr,
                "%s: the core %s 0x%" PRIx64 ", where nothing is, in cycle %" PRIu64
                " near pc 0x%" PRIx64 "; README.md of machines/board has the memory map\n",
                DESCRIPTION.name, faults.writes > 0 ? "wrote to" : "keeps reading from",
                faults.last_address, cycle_, core_->pc(0));
        return true;
    }

    std::unique_ptr<Core> core_;
    Devices &devices_;
    Map map_;
    AxiPort memory_, mmio_;
    bool leap_;
    uint64_t cycle_ = 0; // since reset
    uint64_t waited_cycles_ = 0;
    uint64_t lost_cycles_ = 0; // waited since a timer was set that lay ahead
};

// The image's end is the boots' where they have parted, and else none of theirs.
static Exit run_forks(const Options &options, Board &board, Machine &machine)
{
    Forks forks(options.forks);
    bool parted = false;
    board.ram.watch(board.tree_at, [&] {
        forks.fork_all([&](const std::string &arguments) { board.write_tree(arguments); });
        parted = true;
    });
    try {
        Exit code = machine.run(options.max_cycles);
        if (!parted && code == PASSED)
            throw std::runtime_error("the image never read its arguments; leave out --forks");
        return code;
    } catch (const AllForked &) {
        return PASSED;
    }
}

static int run(int argc, char **argv)
{
    Options options = read_options(argc, argv);
    Board board(options);
    Machine machine(options, board);
    if (options.forks.path.empty())
        return machine.run(options.max_cycles);
    return run_forks(options, board, machine);
}

} // namespace board

int main(int argc, char **argv)
{
    const char *name = board::DESCRIPTION.name;
    int code;
    signal(SIGTERM, board::ask_to_end);
    signal(SIGALRM, board::ask_to_end); // of --bound-s
    try {
        code = board::run(argc, argv);
    } catch (const board::Usage &wrong) {
        fprintf(stderr, "%s: %s\n", name, wrong.what());
        fprintf(stderr, board::HELP, name);
        code = board::USAGE;
    } catch (const board::BadImage &wrong) {
        fprintf(stderr, "%s: %s\n", name, wrong.what());
        code = board::USAGE;
    } catch (const std::exception &wrong) {
        fprintf(stderr, "%s: %s\n", name, wrong.what());
        code = board::BROKEN;
    }
    if (fflush(stdout) != 0)
        code = board::BROKEN;
    return code;
}
