# SPDX-License-Identifier: BSD-2-Clause
"""The benchmark component of the seL4 Device Driver Framework: counters of a core and the
utilisation of every protection domain.

Versions that print `BENCHMARK: begin output` print decimal figures, older ones hexadecimal ones
(benchmark/benchmark.c). Every output is a run. Cycles of the kernel per entry are derived, and are
what changes with the kernel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cyclometer.bundle.model import Clock
from cyclometer.ingest.parsed import Collector, Parsed, Settings, slug
from cyclometer.ingest.quantities import CYCLES, Quantity, events
from cyclometer.ingest.reading import Foreign

NAME = "sddf"
DESCRIPTION = "sDDF benchmark output (counters and utilisation)"

_CORE = re.compile(r"\{?\s*CORE (\d{1,4}):?\s*")
_DOMAIN = re.compile(r"Utili[sz]ation details for PD: (\S.{0,80}?) \((\w{1,8})\)")
_COUNTER = re.compile(r"([A-Z][\w -]{2,40}):\s+([0-9A-Fa-f]{1,16})")
_OVERFLOW = re.compile(r"([A-Z][\w -]{2,40}): Overflow occurred during benchmark.*")
_DECIMAL = "BENCHMARK: begin output"


@dataclass
class _Block:
    """Figures between braces: of a core, of all domains, or of one."""

    owner: str
    line: int
    figures: dict[str, str] = field(default_factory=dict)
    overflowed: list[str] = field(default_factory=list)


def detect(head: bytes, _filename: str) -> int:
    if b"BENCHMARK: begin output" in head or b"KernelUtilisation:" in head:
        return 95
    return 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    blocks: list[_Block] = []
    owner = "core_0"
    for at, line in foreign.lines():
        text = line.strip()
        if match := _CORE.fullmatch(text):
            owner = f"core_{match[1]}"
        elif text.startswith("Total utili"):
            owner = "total"
        elif match := _DOMAIN.fullmatch(text):
            owner = slug(match[1])
        elif match := _OVERFLOW.fullmatch(text):
            _of(blocks, owner, match[1], at).overflowed.append(match[1])
        elif match := _COUNTER.fullmatch(text):
            name = match[1].strip()
            _of(blocks, owner, name, at).figures[name] = match[2]
    base = 10 if _DECIMAL in foreign.text else 16
    for block in blocks:
        _add(into, block, base)
    return into.finish(NAME)


def _of(blocks: list[_Block], owner: str, name: str, at: int) -> _Block:
    """The block that goes on; a new one if the owner is another, or `name` comes again."""
    last = blocks[-1] if blocks else None
    if last is None or last.owner != owner or name in last.figures or name in last.overflowed:
        last = _Block(owner, at)
        blocks.append(last)
    return last


def _add(into: Collector, block: _Block, base: int) -> None:
    figures = {
        name: float(int(printed, base))
        for name, printed in block.figures.items()
        if base == 16 or printed.isdigit()
    }
    for name, value in figures.items():
        unit = CYCLES if name.endswith("Utilisation") else _counter(name)
        _figure(into, block, slug(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)), unit, value)
    for name in block.overflowed:
        into.add(
            f"sddf.{block.owner}.{slug(name)}",
            _counter(name),
            line=block.line,
            name=name,
            status="failed",
            note="the counter overflowed",
        )
    cycles, entries = figures.get("KernelUtilisation"), figures.get("KernelEntries")
    if cycles and entries:
        _figure(into, block, "kernel_cycles_per_entry", CYCLES, cycles / entries)


def _counter(name: str) -> Quantity:
    return (
        Quantity(Clock("instructions retired", "instructions"))
        if name == "Instructions"
        else (events(name))
    )


def _figure(into: Collector, block: _Block, name: str, unit: Quantity, value: float) -> None:
    into.add(f"sddf.{block.owner}.{name}", unit, line=block.line, name=name, mean=value)
