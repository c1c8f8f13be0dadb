// SPDX-License-Identifier: BSD-2-Clause
//
// Format: Devicetree Specification 0.4, chapter 5.
#include "devicetree.h"

#include <map>

#include "bus.h"

namespace board {

constexpr uint32_t NODE_BEGIN = 1, NODE_END = 2, PROPERTY = 3, TREE_END = 9;
constexpr uint32_t HEADER_BYTES = 40,
                   RESERVATIONS_BYTES = 16; // an empty list of reservations is one pair of zeros
constexpr uint32_t TIMEBASE_HZ =
    1000000; // as Rocket's own tree states it; mtime counts once in 100 cycles

// Phandles of the interrupt controllers.
constexpr uint32_t PLIC = 1, FIRST_HART = 2;

// Two interrupts of each hart's own controller, hart by hart.
static std::vector<uint32_t> of_each_hart(uint32_t harts, uint32_t first, uint32_t second)
{
    std::vector<uint32_t> cells;
    for (uint32_t hart = FIRST_HART; hart < FIRST_HART + harts; hart++)
        cells.insert(cells.end(), {hart, first, hart, second});
    return cells;
}

class Tree {
  public:
    void begin(const std::string &name)
    {
        word(NODE_BEGIN);
        bytes(structure_, name.c_str(), name.size() + 1);
    }

    void end()
    {
        word(NODE_END);
    }

    void text(const std::string &name, const std::string &value)
    {
        property(name, value.c_str(), value.size() + 1);
    }

    void flag(const std::string &name)
    {
        property(name, "", 0);
    }

    void cells(const std::string &name, const std::vector<uint32_t> &values)
    {
        std::vector<uint8_t> big;
        for (uint32_t value : values)
            append(big, value);
        property(name, big.data(), big.size());
    }

    // Two cells of address, two of size.
    void reg(uint64_t base, uint64_t size)
    {
        auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
        auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
        cells("reg", {high(base), low(base), high(size), low(size)});
    }

    std::vector<uint8_t> blob()
    {
        word(TREE_END);
        std::vector<uint8_t> out;
        auto structure = static_cast<uint32_t>(structure_.size()),
             strings = static_cast<uint32_t>(strings_.size());
        uint32_t at = HEADER_BYTES + RESERVATIONS_BYTES;
        for (uint32_t field : {0xd00dfeedu, at + structure + strings, at, at + structure,
                               HEADER_BYTES, 17u, 16u, 0u, strings, structure, 0u, 0u, 0u, 0u})
            append(out, field);
        out.insert(out.end(), structure_.begin(), structure_.end());
        out.insert(out.end(), strings_.begin(), strings_.end());
        return out;
    }

  private:
    static void append(std::vector<uint8_t> &to, uint32_t value)
    {
        for (int shift = 24; shift >= 0; shift -= 8)
            to.push_back(static_cast<uint8_t>(value >> shift));
    }

    // Padded to a multiple of four.
    static void bytes(std::vector<uint8_t> &to, const void *from, size_t size)
    {
        auto *p = static_cast<const uint8_t *>(from);
        to.insert(to.end(), p, p + size);
        to.resize((to.size() + 3) & ~size_t{3});
    }

    void word(uint32_t value)
    {
        append(structure_, value);
    }

    void property(const std::string &name, const void *value, size_t size)
    {
        auto [known, is_new] = names_.emplace(name, static_cast<uint32_t>(strings_.size()));
        if (is_new)
            strings_.insert(strings_.end(), name.c_str(), name.c_str() + name.size() + 1);
        word(PROPERTY);
        word(static_cast<uint32_t>(size));
        word(known->second);
        bytes(structure_, value, size);
    }

    std::vector<uint8_t> structure_, strings_;
    std::map<std::string, uint32_t> names_;
};

static void add_hart(Tree &t, uint32_t hart, const char *isa)
{
    t.begin("cpu@" + std::to_string(hart));
    t.text("device_type", "cpu");
    t.cells("reg", {hart});
    t.text("status", "okay");
    t.text("compatible", "riscv");
    t.text("riscv,isa", isa);
    t.text("mmu-type", "riscv,sv39");
    t.begin("interrupt-controller");
    t.text("compatible", "riscv,cpu-intc");
    t.cells("#interrupt-cells", {1});
    t.flag("interrupt-controller");
    t.cells("phandle", {FIRST_HART + hart});
    t.end();
    t.end();
}

static void add_harts(Tree &t, const Description &core)
{
    t.begin("cpus");
    t.cells("#address-cells", {1});
    t.cells("#size-cells", {0});
    t.cells("timebase-frequency", {TIMEBASE_HZ});
    for (uint32_t hart = 0; hart < core.harts; hart++)
        add_hart(t, hart, core.isa);
    t.end();
}

static void add_devices(Tree &t, uint32_t harts)
{
    t.begin("soc");
    t.text("compatible", "simple-bus");
    t.cells("#address-cells", {2});
    t.cells("#size-cells", {2});
    t.flag("ranges");
    t.begin("clint@2000000");
    t.text("compatible", "riscv,clint0");
    t.reg(0x2000000, 0x10000);
    t.cells("interrupts-extended", of_each_hart(harts, 3, 7));
    t.end();
    t.begin("interrupt-controller@c000000");
    t.text("compatible", "riscv,plic0");
    t.reg(0xc000000, 0x4000000);
    t.cells("interrupts-extended", of_each_hart(harts, 11, 9));
    t.cells("#interrupt-cells", {1});
    t.flag("interrupt-controller");
    t.cells("riscv,ndev", {8});
    t.cells("phandle", {PLIC});
    t.end();
    t.begin("serial@10001000");
    t.text("compatible", "ns16550a");
    t.reg(UART_BASE, UART_BYTES);
    t.cells("clock-frequency", {1843200}); // for drivers that insist on a divisor; none is needed
    t.end();
    t.begin("test@10002000");
    t.text("compatible", "sifive,test1");
    t.reg(FINISHER_BASE, 0x1000);
    t.end();
    t.end();
}

std::vector<uint8_t> device_tree(const Description &core, const std::string &bootargs,
                                 uint64_t ram_bytes)
{
    Tree t;
    t.begin("");
    t.cells("#address-cells", {2});
    t.cells("#size-cells", {2});
    t.text("compatible", core.compatible);
    t.text("model", core.model);
    t.begin("chosen");
    t.text("bootargs", bootargs);
    t.text("stdout-path", "/soc/serial@10001000");
    t.end();
    add_harts(t, core);
    t.begin("memory@80000000");
    t.text("device_type", "memory");
    t.reg(RAM_BASE, ram_bytes);
    t.end();
    add_devices(t, core.harts);
    t.end();
    return t.blob();
}

} // namespace board
