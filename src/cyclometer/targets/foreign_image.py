# SPDX-License-Identifier: BSD-2-Clause
"""Anyone's kernel image, simulated or on a board: what its consoles and their ends amount to."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import msgspec

from cyclometer.bundle.model import Bundle, Clock, Problem, Row
from cyclometer.bundle.store import CONSOLE
from cyclometer.errors import BadFile, CyclometerError, MeasurementFailed, UsageError
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.decode import Decoder
from cyclometer.record.instructions import RISCV64
from cyclometer.record.schema import Hello
from cyclometer.record.span import AddressSpan, Wanted
from cyclometer.targets import build, reference_kernel
from cyclometer.targets.api import MeasurementResult, Progress, Request
from cyclometer.targets.console import END_RECORD, IDLE, BootResult
from cyclometer.targets.disassembly import disassemble, program
from cyclometer.text import one_line

# What ends a console beside our own record: sel4bench and sel4test.
_ENDS = (b"All is well in the universe",)
_RECORDS = b"@cyc {"
_SEL4BENCH = b"JSON OUTPUT"  # begins its figures
_TAIL_BYTES = 300
_LINE_CHARS = 100
# The last line of a machine that was stopped: of our simulators, which name each hart if none of
# them can go on, and of QEMU's monitor.
_STOPPED = re.compile(rb"[^\n]*near pc 0x[0-9a-f]{1,16}\n?$")
_STOOD = re.compile(rb"(?:(hart \d+) )?near pc (0x[0-9a-f]{1,16})")


def ends(request: Request) -> tuple[bytes, ...]:
    """Texts that end the console of an image: --until, else those of suites that we know."""
    return (request.until.encode(),) if request.until else _ENDS


def last_texts(request: Request) -> tuple[bytes, ...]:
    """The same, and the last record of a port."""
    return (END_RECORD, *ends(request))


def labelled(request: Request, settings: Mapping[str, str]) -> dict[str, str]:
    """The machine's settings and the labels of --config, which say how the image was built. Raises
    UsageError for a label that the machine sets.
    """
    for name in request.config:
        if name in settings:
            raise UsageError(f"the machine sets --config {name} to {settings[name]}; leave it out")
    return {**request.config, **settings}


def last_line(progress: Progress) -> Callable[[bytes], None]:
    """Shows what an image printed last while it runs."""

    def tell(newest: bytes) -> None:
        lines = newest.decode(errors="replace").split("\n")
        shown = next((line for line in reversed(lines) if line.strip()), "no output yet")
        progress.visits(0, 1, one_line(shown, _LINE_CHARS))

    return tell


def interruptible(progress: Progress, boot: Callable[[Event], BootResult]) -> BootResult:
    """A boot that heeds an event. An interrupt sets it, and what was printed until then is kept."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        started = pool.submit(boot, progress.stop)
        try:
            wait([started])
        except KeyboardInterrupt:
            progress.stop.set()
        return started.result()


def result(
    request: Request,
    ended: BootResult,
    facts: Mapping[str, Any],
    settings: Mapping[str, str],
    cycles: Clock | None,
    progress: Progress,
) -> MeasurementResult:
    """The bundle of one boot. `cycles` is what the machine's cycle counter really is, where it is
    known.

    Raises MeasurementFailed if nothing can be read out of the console, which is then kept.
    """
    image = request.image
    assert image is not None
    known = {**facts, "image": identity(image)}
    whole = ended.done or (ended.why == IDLE and request.until is None)
    ended = replace(ended, why=ended.why + _stood(request, ended), done=whole)
    made = of_boots(request.name, image.name, [ended], known, settings, cycles)
    bundle = _with_problems(made.bundle, _unheeded(request, made.bundle.identity.rows))
    return replace(made, bundle=bundle, interrupted=progress.stop.is_set())


def _unheeded(request: Request, rows: Sequence[Row]) -> list[Problem]:
    """What an image did although its boot arguments said otherwise: it need not read them."""
    beside = sum(
        not any(fnmatch.fnmatchcase(row.contract.key, pattern) for pattern in request.only)
        for row in rows
    )
    other = sum(request.method not in (None, row.method) for row in rows)
    said = {"--only": beside, "--method": other}
    return [
        Problem(f"{number} of {len(rows)} rows are not what {option} asked the image for")
        for option, number in said.items()
        if number
    ]


def identity(image: Path) -> dict[str, str]:
    """What is recorded of an image."""
    with image.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": image.name, "sha256": digest}


def of_boots(
    name: str | None,
    fallback: str,
    boots: Sequence[BootResult],
    facts: dict[str, Any],
    settings: Mapping[str, str],
    cycles: Clock | None = None,
) -> MeasurementResult:
    """The bundle of boots of one image, each of them a run. The target is called `name`, else as it
    calls itself, else `fallback`.

    Raises MeasurementFailed if nothing can be read out of the consoles, the last of which is then
    kept.
    """
    try:
        made = _bundle(name, fallback, boots, facts, settings, cycles)
    except MeasurementFailed as error:
        kept = keep(boots[-1].console)
        raise MeasurementFailed(f"{error}; its console is in {kept}") from error
    runs = {_run(number) for number in range(1, len(boots) + 1)}
    problems = made.bundle.identity.problems
    return replace(made, broken=any(p.kind == "failed" and p.where in runs for p in problems))


def keep(console: bytes) -> Path:
    """Where a console that no bundle holds is kept."""
    digest = hashlib.sha256(console).hexdigest()
    kept = build.cache() / "failed-boots" / f"{digest[:16]}.console"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(console)
    return kept


def _run(number: int) -> str:
    return f"run {number}"


def _stood(request: Request, ended: BootResult) -> str:
    """Where a machine was when it was stopped, by function if the image can be disassembled."""
    found = None if ended.done else _STOPPED.search(ended.console)
    if found is None:
        return ""
    try:
        known = places(request).kernel
    except CyclometerError:
        known = {}
    said = ""
    for hart, address in _STOOD.findall(found[0]):
        place = known.get(int(address, 16))
        said += f", {hart.decode()} at pc" if hart else ", at pc"
        said += f" {address.decode()}" + (f" in {place.function}" if place else "")
        if int(address, 16) == 0:
            said += ", where a trap without a handler goes (an S-mode image needs --firmware)"
    return said


def _bundle(
    name: str | None,
    fallback: str,
    boots: Sequence[BootResult],
    facts: dict[str, Any],
    settings: Mapping[str, str],
    cycles: Clock | None,
) -> MeasurementResult:
    if any(_RECORDS in ended.console for ended in boots):
        target = name or next(filter(None, map(_named, boots)), fallback)
        runs = {number: [ended] for number, ended in enumerate(boots, 1)}
        made = reference_kernel.assemble(target, facts, runs, {}, dict(settings))
        rows = tuple(_timed(row, cycles) for row in made.bundle.identity.rows)
        identity = msgspec.structs.replace(made.bundle.identity, rows=rows)
        made.bundle = replace(made.bundle, identity=identity)
        wrong = [_cut(ended) if ended.done and ended.status else "" for ended in boots]
        made.bundle = _with_problems(made.bundle, _of_runs(wrong))
        return made
    readable = [ended for ended in boots if _ingested([ended]) is not None]
    mute = [ended for ended in boots if ended not in readable]
    bundle = _ingested(readable)
    if bundle is None:
        raise MeasurementFailed(_unread(boots[-1]))
    known = msgspec.structs.replace(
        bundle.identity,
        target=name or bundle.identity.target,
        environment={**bundle.identity.environment, **facts},
        rows=tuple(_row(row, settings, cycles) for row in bundle.identity.rows),
        files={},  # the console is kept as that of any other image
    )
    wrong = [*map(_cut, readable), *("the boot printed no figures that ingest knows" for _ in mute)]
    bundle = _with_problems(replace(bundle, identity=known), _of_runs(wrong))
    consoles = {
        f"run-{number}": ended.console for number, ended in enumerate([*readable, *mute], 1)
    }
    return MeasurementResult(bundle, consoles)


def _ingested(boots: Sequence[BootResult]) -> Bundle | None:
    """What `ingest` makes of consoles without our records; None if one of them says nothing to
    it.
    """
    from cyclometer.ingest import ingest

    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.log" for number in range(len(boots))]
        for file, ended in zip(files, boots, strict=True):
            file.write_bytes(ended.console)
        try:
            return ingest(files)[0] if files else None
        except BadFile:
            return None


def _unread(ended: BootResult) -> str:
    tail = ended.console[-_TAIL_BYTES:].decode(errors="replace").strip() or "(nothing)"
    status = f" (exit status {ended.status})" if ended.status else ""
    printed = "neither our records nor a format that ingest knows"
    if _SEL4BENCH in ended.console:
        printed = "the beginning of sel4bench's figures, and not their end"
    return f"the image {ended.why}{status}; it printed {printed}; its console ends: {tail!r}"


def _named(ended: BootResult) -> str:
    """The target's own name for itself."""
    hello = next((r for r in Decoder().feed(ended.console) if isinstance(r, Hello)), None)
    return hello.target if hello else ""


def _row(row: Row, settings: Mapping[str, str], cycles: Clock | None) -> Row:
    source = row.source and msgspec.structs.replace(row.source, file=CONSOLE)
    options = {**row.configuration, **settings}
    return msgspec.structs.replace(_timed(row, cycles), source=source, configuration=options)


def _timed(row: Row, cycles: Clock | None) -> Row:
    """With the clock that a count of cycles is on this machine."""
    if cycles is None or row.clock.unit != "cycles":
        return row
    return msgspec.structs.replace(row, clock=msgspec.structs.replace(cycles, name=row.clock.name))


def _of_runs(wrong: Sequence[str]) -> list[Problem]:
    """`wrong` is a sentence a boot, empty where nothing is."""
    return [Problem(what, _run(number), "failed") for number, what in enumerate(wrong, 1) if what]


def _with_problems(bundle: Bundle, found: Sequence[Problem]) -> Bundle:
    problems = (*bundle.identity.problems, *found)
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
                f"{name} ends with {place.text}, not a return; name an end, such as --to {pc:#x}"
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
