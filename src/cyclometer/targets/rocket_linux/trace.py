# SPDX-License-Identifier: BSD-2-Clause
"""What a moved Linux kernel executes in a test, cycle by cycle: the RTL's own trace, with the names
of the kernel's functions, the harness's and the firmware's.

A kernel patches its own code while it boots, so that its image does not say what it runs: the
instructions are those of the trace.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.decode import Decoder
from cyclometer.record.instructions import RISCV64
from cyclometer.record.schema import Flow, Hello, Record
from cyclometer.record.trace import USER, Steps, TraceResult, load, to_explain, windows
from cyclometer.targets import build
from cyclometer.targets.api import SILENT
from cyclometer.targets.console import BootResult
from cyclometer.targets.disassembly import disassemble, program
from cyclometer.targets.linux.harness import Visit
from cyclometer.targets.qemu_linux import listing
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.qemu_linux.symbols import Symbols
from cyclometer.targets.rocket import firmware
from cyclometer.targets.rocket_linux import m_mode
from cyclometer.targets.rocket_linux.checkpoint import on_board
from cyclometer.targets.rocket_linux.elf import code_sections
from cyclometer.targets.rocket_linux.moves import at_once

# two sizes, for the slope; untimed turns go before each, and have seen the code
FLOW = Flow(initial=4, delta=4, groups=2, tests=1)
_PASSES = 2  # the first one is cold
_STEPS_MAX = 2_000_000  # of all windows, 144 MB
_COMPRESSED_BYTES, _BYTES = 2, 4
_TARGET = re.compile(r"\b(?:0x)?([0-9a-f]{8,16})(?: <[^>]*>)?$")


def visit(key: str, method: str, turn_cost: float) -> Visit:
    """The tests of a circle that are traced."""
    if method != "accumulated":
        return Visit(1, key, method, Flow(1, 0, 1, _PASSES))
    sizes = FLOW.tests * sum(FLOW.initial + g * FLOW.delta for g in range(FLOW.groups))
    if turn_cost * sizes <= _STEPS_MAX:
        return Visit(1, key, method, FLOW)
    return Visit(1, key, method, Flow(1, 1, 2, 1))


def symbols(guest: Guest, bound_s: float) -> Symbols:
    """The kernel's functions: those of --symbols, or as it lists them itself, in a boot of QEMU
    whose answer is kept.
    """
    if known := listing.known(guest):
        return known
    with on_board(guest, to_be_moved=False) as board:
        return listing.listed(board, bound_s)


def traced(
    guest: Guest,
    known: Symbols,
    visits: Sequence[Visit],
    run: Callable[[Visit, Path], BootResult],
    below: str | None = None,
) -> TraceResult:
    """Records and explained windows of `visits`, each traced into a file by `run`, above our
    firmware or above `below`.

    Raises BadFile if the RTL ended inside of a window.
    """
    with tempfile.TemporaryDirectory() as folder:

        def one(visit: Visit) -> tuple[list[Record], Steps | None]:
            file = Path(folder) / f"{visit.key}.trace"
            records = Decoder().feed(run(visit, file).console)
            return records, _window(records, visit.key, file)

        found = at_once(one, visits, SILENT)
    steps = {
        visit.key: window
        for visit, (_, window) in zip(visits, found, strict=True)
        if window is not None
    }
    records = [_named(record) for of_one, _ in found for record in of_one]
    return TraceResult(records, steps, _places(guest, known, steps.values(), below))


def _window(records: Sequence[Record], key: str, file: Path) -> Steps | None:
    """The window of a boot's explained test, a copy; None if it has none."""
    test = to_explain(records, [key]).get(key)
    every = windows(load(file), str(file)) if test is not None else []
    file.unlink(missing_ok=True)
    return every[test.window].copy() if test is not None and test.window < len(every) else None


def _named(record: Record) -> Record:
    """A hello with the kernel among what distinguishes the sides of a comparison."""
    if not isinstance(record, Hello):
        return record
    options = {**record.configuration, "kernel": record.kernel}
    return msgspec.structs.replace(record, configuration=options)


def _places(
    guest: Guest, known: Symbols, all_steps: Iterable[Steps], below: str | None
) -> AddressMap:
    code: dict[int, int] = {}
    for steps in all_steps:
        inside = steps[(steps["privilege"] != USER) & (steps["insn"] != 0)]
        code |= zip(inside["pc"].tolist(), inside["insn"].tolist(), strict=True)
    objdump = program(RISCV64)
    lowest = firmware.places(Path(below)) if below else _our_firmware(objdump)
    user = disassemble(guest.program, objdump, build.sources())
    return AddressMap(kernel_places(code, known) | lowest, user)


def _our_firmware(objdump: str) -> dict[int, Place]:
    return disassemble(m_mode.firmware(), objdump, build.sources())


def kernel_places(code: Mapping[int, int], known: Symbols) -> dict[int, Place]:
    """What stands at the addresses of `code`, which are those of executed instructions, each with
    its encoding.
    """
    with tempfile.NamedTemporaryFile(suffix=".elf") as image:
        image.write(code_sections(_runs(code)))
        image.flush()
        texts = disassemble(Path(image.name), program(RISCV64), build.sources())
    found = {}
    for pc, insn in code.items():
        name, starts = known.at(pc)
        found[pc] = Place(name, _text(texts[pc].text, name, known), "", 0, starts, insn)
    return found


def _runs(code: Mapping[int, int]) -> list[tuple[int, bytes]]:
    """Address and content of each stretch of instructions that follow each other."""
    found: list[tuple[int, bytearray]] = []
    for pc, insn in sorted(code.items()):
        # RISC-V: both lowest bits are set in what is not compressed
        content = insn.to_bytes(_BYTES if insn & 3 == 3 else _COMPRESSED_BYTES, "little")
        if found and found[-1][0] + len(found[-1][1]) == pc:
            found[-1][1].extend(content)
        else:
            found.append((pc, bytearray(content)))
    return [(pc, bytes(content)) for pc, content in found]


def _text(words: str, function: str, known: Symbols) -> str:
    """An instruction with the name of where it jumps: into its own function, or to the start of
    another.
    """
    match = _TARGET.search(words)
    if not match:
        return words
    target = int(match[1], 16)
    name, starts = known.at(target)
    plain = f"{words[: match.start()]}{target:x}"
    return f"{plain} <{name}>" if starts or name == function else plain
