# SPDX-License-Identifier: BSD-2-Clause
"""Anyone's kernel image on a machine that we simulate: what its console and its end amount to."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from cyclometer.bundle.model import Bundle, Clock, Problem, Row
from cyclometer.bundle.store import CONSOLE
from cyclometer.errors import CyclometerError, MeasurementFailed, UsageError
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.decode import Decoder
from cyclometer.record.instructions import RISCV64
from cyclometer.record.schema import Hello
from cyclometer.record.span import AddressSpan, Wanted
from cyclometer.targets import build, reference_kernel
from cyclometer.targets.api import MeasurementResult, Request
from cyclometer.targets.console import END_RECORD, BootResult
from cyclometer.targets.disassembly import disassemble, program
from cyclometer.targets.qemu.image import from_console

# What ends a console beside our own record: sel4bench and sel4test.
_ENDS = (b"All is well in the universe",)
_RECORDS = b"@cyc {"
_RUN = "run 1"
# The last line of a machine that was stopped: of our simulators, and of QEMU's monitor.
_STOPPED = re.compile(rb"near pc (0x[0-9a-f]{1,16})\n?$")


def ends(request: Request) -> tuple[bytes, ...]:
    """Texts that end the console of an image: --until, else those of suites that we know."""
    return (request.until.encode(),) if request.until else _ENDS


def last_texts(request: Request) -> tuple[bytes, ...]:
    """The same, and the last record of a port."""
    return (END_RECORD, *ends(request))


def result(
    request: Request,
    ended: BootResult,
    facts: Mapping[str, Any],
    settings: Mapping[str, str],
    cycles: Clock | None,
) -> MeasurementResult:
    """The bundle of one boot. `cycles` is what the machine's cycle counter really is, where it is
    known.

    Raises MeasurementFailed if nothing can be read out of the console, which is then kept.
    """
    image = request.image
    assert image is not None
    with image.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    ended = replace(ended, why=ended.why + _stood(request, ended))
    known = {**facts, "image": {"name": image.name, "sha256": digest}}
    try:
        made = _bundle(request, ended, known, settings, cycles)
    except MeasurementFailed as error:
        kept = build.cache() / "failed-boots" / f"{digest[:16]}.console"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(ended.console)
        raise MeasurementFailed(f"{error}; its console is in {kept}") from error
    problems = made.bundle.identity.problems
    return replace(made, broken=any(p.kind == "failed" and p.where == _RUN for p in problems))


def _stood(request: Request, ended: BootResult) -> str:
    """Where a machine was when it was stopped, by function if the image can be disassembled."""
    found = None if ended.done else _STOPPED.search(ended.console)
    if found is None:
        return ""
    pc = int(found[1], 16)
    try:
        place = places(request).kernel.get(pc)
    except CyclometerError:
        place = None
    return f", at pc {pc:#x}" + (f" in {place.function}" if place else "")


def _bundle(
    request: Request,
    ended: BootResult,
    facts: dict[str, Any],
    settings: Mapping[str, str],
    cycles: Clock | None,
) -> MeasurementResult:
    if _RECORDS in ended.console:
        target = request.name or _named(ended.console) or str(facts["image"]["name"])
        made = reference_kernel.assemble(target, facts, {1: [ended]}, {}, dict(settings))
        if ended.done and ended.status:
            made.bundle = _with_problem(made.bundle, _cut(ended))
        return made
    bundle = from_console(ended.console, ended.why)
    identity = msgspec.structs.replace(
        bundle.identity,
        target=request.name or bundle.identity.target,
        environment={**bundle.identity.environment, **facts},
        rows=tuple(_row(row, settings, cycles) for row in bundle.identity.rows),
    )
    bundle = replace(bundle, identity=identity)
    if cut := _cut(ended):
        bundle = _with_problem(bundle, cut)
    return MeasurementResult(bundle, {"run-1": ended.console})


def _named(console: bytes) -> str:
    """The target's own name for itself."""
    hello = next((r for r in Decoder().feed(console) if isinstance(r, Hello)), None)
    return hello.target if hello else ""


def _row(row: Row, settings: Mapping[str, str], cycles: Clock | None) -> Row:
    source = row.source and msgspec.structs.replace(row.source, file=CONSOLE)
    clock = row.clock
    if cycles is not None and clock.unit == "cycles":
        clock = msgspec.structs.replace(cycles, name=clock.name)
    options = {**row.configuration, **settings}
    return msgspec.structs.replace(row, source=source, clock=clock, configuration=options)


def _with_problem(bundle: Bundle, what: str) -> Bundle:
    problems = (*bundle.identity.problems, Problem(what, _RUN, "failed"))
    return replace(bundle, identity=msgspec.structs.replace(bundle.identity, problems=problems))


def _cut(ended: BootResult) -> str:
    """What is wrong with how a boot ended; empty where it said that it was done, or powered off."""
    if ended.status:
        return f"the image ended itself with code {ended.status}; its records until then are kept"
    if ended.done or ended.status == 0:
        return ""
    return f"the boot {ended.why}; its records until then are kept"


def places(request: Request) -> AddressMap:
    """What stands where in an image and in the ELF files of --symbols, which may be of programs as
    well as of the kernel. Raises NotComparable for a file that cannot be disassembled.
    """
    assert request.image is not None
    files = [request.image, *(Path(name) for name in (request.symbols or "").split(",") if name)]
    objdump = program(RISCV64)
    found: dict[int, Place] = {}
    for file in files:
        found |= disassemble(file, objdump, file.resolve().parent)
    return AddressMap(found, found)


def hints(known: AddressMap, image: Path) -> tuple[int, int]:
    """The encodings that open and close a window. Raises MeasurementFailed for an image that has
    none.
    """
    if not known.addresses(RISCV64.opens):
        raise MeasurementFailed(
            f"{image.name} marks no window: its measuring core is built without the hints of "
            "core/include/cyc/clock.h, or stands in a file that --symbols does not name"
        )
    return RISCV64.opens, RISCV64.closes


def span(known: AddressMap, wanted: Wanted) -> AddressSpan:
    """The addresses that symbols stand for. Raises UsageError for one that is not there, and for a
    trap's handler without an end.
    """
    start = _address(known, wanted.start)
    if wanted.stop is None:
        _refuse_handler(known, wanted.start)
    stop = None if wanted.stop is None else _address(known, wanted.stop)
    return AddressSpan(start, stop, wanted.skip, wanted.most)


def _refuse_handler(known: AddressMap, name: str) -> None:
    """No call leads to a handler, and no return out of it."""
    for pc, place in known.kernel.items():
        if place.function == name and place.text in ("mret", "sret"):
            raise UsageError(
                f"{name} is left by {place.text}, not by a return; name an end, as --to {pc:#x}"
            )


def _address(known: AddressMap, word: str) -> int:
    name, _, offset = word.partition("+")
    try:
        if word.startswith("0x"):
            return int(word, 16)
        beyond = int(offset, 0) if offset else 0
    except ValueError as error:
        raise UsageError(
            f"{word} is neither a symbol nor an address; write it as handler, handler+0x1c or "
            "0x80001234"
        ) from error
    found = [pc for pc, place in known.kernel.items() if place.starts and place.function == name]
    if len(found) != 1:
        raise UsageError(_unknown(known, name, found))
    return found[0] + beyond


def _unknown(known: AddressMap, name: str, found: list[int]) -> str:
    if found:
        listed = ", ".join(f"{pc:#x}" for pc in sorted(found))
        return f"{name} stands at several addresses; choose one: {listed}"
    names = {place.function for place in known.kernel.values()}
    like = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {like[0]}?" if like else ""
    return f"no symbol {name} in the image or the files of --symbols{hint}"
