# SPDX-License-Identifier: BSD-2-Clause
"""What a machine executed, instruction by instruction: the file of windows that a target writes
(FORMAT.md).

A window is what ran between the two hints around a test's interval. The n-th window of a boot
belongs to the n-th value of its record stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclometer.errors import BadFile
from cyclometer.record.address_map import AddressMap
from cyclometer.record.instructions import RISCV64, SETS, InstructionSet
from cyclometer.record.schema import Circle, Group, Overhead, Pass, Record

CAUSES = (
    "issue",
    "icache",
    "dcache",
    "tlb",
    "branch",
    "trap",
    "csr",
    "muldiv",
    "mmio",
    "store",
    "interlock",
    "unattributed",
)
ISSUE = CAUSES.index("issue")
TRAP = CAUSES.index("trap")
_FIRST_STEP = np.dtype(
    [
        ("clock", "<u8"),
        ("pc", "<u8"),
        ("insn", "<u4"),
        ("privilege", "u1"),
        ("flags", "u1"),
        ("space", "<u2"),
        ("causes", "<u4", (len(CAUSES),)),
    ]
)
STEP = np.dtype([*_FIRST_STEP.descr, ("stack", "<u8")])
"""One retired or trapped instruction. `causes` say where the clock's steps since the instruction
before went; `stack` is the stack pointer that it found, 0 if the machine does not show it.
"""
_VERSIONS = {1: _FIRST_STEP, 2: STEP}
# bits of `flags`: trapped instead of retiring; an interrupt was taken here; three bits of the hart;
# its data was in the cache of another hart, which gave it up
TRAPPED, INTERRUPTED, GIVEN_UP = (1, 2, 32)
_HART_SHIFT, _HART_BITS = 2, 7 << 2
_FLAGS_END = 64
USER, SUPERVISOR, MACHINE = 0, 1, 3
FILE_MAX_BYTES = 512 << 20
_MAGIC, _HEADER_BYTES = b"CYCTRACE", 16
_MODES = (USER, SUPERVISOR, MACHINE)

Steps = NDArray[np.void]  # of dtype STEP, shape (n,)


def encode(steps: Steps) -> bytes:
    """The bytes of a trace file of the newest version."""
    return _header(2) + steps.tobytes()


def _header(version: int) -> bytes:
    numbers = version, _VERSIONS[version].itemsize
    return _MAGIC + b"".join(number.to_bytes(4, "little") for number in numbers)


def load(path: Path) -> Steps:
    """The steps of a trace file. Raises BadFile if it cannot be read, is too long, or breaks the
    format.
    """
    try:
        with path.open("rb") as file:
            data = file.read(FILE_MAX_BYTES + 1)
    except OSError as error:
        raise BadFile(
            f"{path} cannot be read ({error.strerror}); trace the circle again"
        ) from error
    return decode(data, str(path))


def decode(data: bytes, where: str) -> Steps:
    """The steps of a trace file's bytes; `where` names them in errors. Raises BadFile if they break
    the format.
    """
    if len(data) > FILE_MAX_BYTES:
        raise BadFile(
            f"{where} is longer than {FILE_MAX_BYTES >> 20} MiB; trace fewer circles or turns at a "
            "time"
        )
    steps = _of_version(data, where)
    wrong = np.flatnonzero(~np.isin(steps["privilege"], _MODES) | (steps["flags"] >= _FLAGS_END))
    if len(wrong):
        raise BadFile(
            f"{where} has a privilege or flags that the format does not know in step {wrong[0]}"
        )
    return steps


def _of_version(data: bytes, where: str) -> Steps:
    """The steps of any version as those of the newest."""
    version = next((n for n in _VERSIONS if data[:_HEADER_BYTES] == _header(n)), None)
    if version is None:
        raise BadFile(
            f"{where} is not a trace of version 1 or 2 with steps of {_FIRST_STEP.itemsize} or "
            f"{STEP.itemsize} bytes; trace the circle again"
        )
    kind = _VERSIONS[version]
    if (len(data) - _HEADER_BYTES) % kind.itemsize:
        raise BadFile(
            f"{where} ends inside a step; its machine was stopped too early, trace the circle again"
        )
    steps = np.frombuffer(data, kind, offset=_HEADER_BYTES)
    if kind is STEP:
        return steps
    whole = np.zeros(len(steps), STEP)
    for name in kind.names or ():
        whole[name] = steps[name]
    return whole


def lanes(steps: Steps) -> dict[int, Steps]:
    """The steps of each hart, by its number, in order; `flags` without the hart."""
    harts = _harts(steps)
    found = {}
    for hart in np.unique(harts):
        lane = steps[harts == hart].copy()
        lane["flags"] &= ~np.uint8(_HART_BITS)
        found[int(hart)] = lane
    return found


def joined(lanes: Mapping[int, Steps]) -> Steps:
    """What `lanes` took apart, in the order of the clock."""
    marked = [lane.copy() for lane in lanes.values()]
    for hart, lane in zip(lanes, marked, strict=True):
        lane["flags"] |= np.uint8(hart << _HART_SHIFT)
    steps = np.concatenate(marked)
    return steps[np.argsort(steps["clock"], kind="stable")]


def _harts(steps: Steps) -> NDArray[np.integer[Any]]:
    return (steps["flags"] & _HART_BITS) >> _HART_SHIFT


def instruction_set(steps: Steps) -> InstructionSet:
    """By the hint that opens the first window. Raises BadFile if there is none."""
    first = int(steps["insn"][0]) if len(steps) else 0
    for known in SETS:
        if first == known.opens:
            return known
    raise BadFile(
        "a trace does not begin with the hint that opens a window; its machine must write whole "
        "windows"
    )


def of_turn(lead: Steps) -> InstructionSet:
    """By the hint in what of the window came before; without any it is an image's, and these are
    RISC-V alone.
    """
    return instruction_set(lead) if len(lead) else RISCV64


def windows(steps: Steps, where: str) -> list[Steps]:
    """The windows in order, each from its opening to its closing hint, which are those of the
    client on the first hart; with what other harts executed meanwhile.

    Raises BadFile if hints do not alternate, or if the causes of a step are not its share of
    the clock.
    """
    if not len(steps):
        return []
    known, first = instruction_set(steps), _harts(steps) == 0
    opens, closes = (
        np.flatnonzero((steps["insn"] == hint) & first) for hint in (known.opens, known.closes)
    )
    whole = (
        len(opens) == len(closes)
        and np.array_equal(opens[1:], closes[:-1] + 1)
        and closes[-1] == len(steps) - 1
    )
    if not whole or np.any(closes < opens):
        raise BadFile(
            f"{where} has {len(opens)} openings and {len(closes)} ends of windows that do not "
            "alternate"
        )
    found = [steps[a : b + 1] for a, b in zip(opens, closes, strict=True)]
    for number, window in enumerate(found):
        for lane in lanes(window).values():
            _check_sums(lane, f"{where}, window {number}")
    return found


def _check_sums(window: Steps, where: str) -> None:
    """The causes of each step but the first, whose predecessor was not written, against the
    clock.
    """
    clock = window["clock"].astype(np.int64)
    gone = window["causes"][1:].sum(axis=1, dtype=np.int64)
    wrong = np.flatnonzero(np.diff(clock) != gone)
    if len(wrong):
        at = int(wrong[0]) + 1
        raise BadFile(
            f"{where}, step {at}: the causes sum to {gone[at - 1]}, the clock went on by "
            f"{clock[at] - clock[at - 1]}"
        )


@dataclass(frozen=True)
class Test:
    """One value of a record stream. `window` is its number, and the number of its window."""

    window: int
    key: str
    kind: str  # overhead | group | pass
    method: str
    turns: int
    value: int


def tests(records: Iterable[Record]) -> Iterator[Test]:
    """Every value of a boot's records, in the order in which they were measured."""
    number = 0
    for record in records:
        if isinstance(record, Group | Pass | Overhead):
            kind = type(record).__name__.lower()
            for value in record.values:
                yield Test(number, record.circle, kind, record.method, record.turns, value)
                number += 1


def to_explain(records: Iterable[Record], keys: Iterable[str]) -> dict[str, Test]:
    """The test to explain of each circle: of an accumulated flow the last one, of `passes` the
    first.

    Passes that are measured singly (`direct`) are steady at the end, too.
    """
    wanted, found = set(keys), {}
    for test in tests(records):
        if (
            test.key in wanted
            and test.kind != "overhead"
            and not (test.method == "passes" and test.key in found)
        ):
            found[test.key] = test
    return found


def listed(records: Iterable[Record]) -> list[str]:
    """The keys of all circles of a stream, in order, each once."""
    return list(
        dict.fromkeys(record.contract.key for record in records if isinstance(record, Circle))
    )


@dataclass(frozen=True)
class TraceResult:
    """Boots whose machine wrote down what it executed: their records, and the window of each
    circle's explained test.
    """

    records: Sequence[Record]
    windows: Mapping[str, Steps]  # by key; see to_explain()
    places: AddressMap
    # of the machine, beside the image's configuration
    settings: Mapping[str, str] = field(default_factory=dict)
    # of a turn by key, where a boot that was not traced measured it: tracing may disturb a few
    latencies: Mapping[str, Fraction] = field(default_factory=dict)
