# SPDX-License-Identifier: BSD-2-Clause
"""What it takes to explain one circle, from a traced boot or from a bundle that kept it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from io import BytesIO

import msgspec

from cyclometer.errors import BadFile, MeasurementFailed
from cyclometer.record import trace
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.schema import Circle, Clock, Contract, Failed, Group, Hello, Record, Skipped
from cyclometer.record.trace import Steps, Test, TraceResult

ROLES = ("steady", "cold")
FOLDER = "traces"  # of a bundle
FLOOR_KEYS = (
    "floor.empty.kernel",
    "hardware.crossing.one",
    "hardware.crossing.two",
    "hardware.crossing.two.satp_2",
    "hardware.crossing.two.satp_2.flush",
    "timer.read.kernel",
)
# in fewer words
FLOOR_ONLY = (*FLOOR_KEYS[:3], "hardware.crossing.two.satp_2*", "timer.read.kernel")
_UNPACKED_MAX_BYTES = 256 << 20


class Located(msgspec.Struct, frozen=True, array_like=True):
    """A place and where it stands: in the programs or in the kernel, and at which address."""

    user: bool
    pc: int
    place: Place


class Facts(msgspec.Struct, frozen=True):
    """All but the steps. Latencies are [numerator, denominator] a turn, in the clock's unit."""

    target: str
    configuration: dict[str, str]
    clock: Clock
    contract: Contract
    role: str
    test: Test
    latency: tuple[int, int]
    others: dict[str, tuple[int, int]]  # of the hardware's floor, where this board has its circles
    places: tuple[Located, ...]


@dataclass(frozen=True)
class Evidence:
    """One window, and what is known about it. `places` knows every instruction in it. `elsewhere`
    is what other harts than the client's executed meanwhile, by number.
    """

    facts: Facts
    steps: Steps
    places: AddressMap
    elsewhere: Mapping[int, Steps] = field(default_factory=dict)

    @property
    def latency(self) -> Fraction:
        """Of one turn in clock units, as the records say; of a pass its raw value, the reading of
        the clock included.
        """
        return Fraction(*self.facts.latency)

    @property
    def others(self) -> dict[str, Fraction]:
        """Latencies of the hardware's floor in clock units per turn, by circle."""
        return {key: Fraction(*pair) for key, pair in self.facts.others.items()}


def gather(target: str, traced: TraceResult, keys: Sequence[str], role: str) -> dict[str, Evidence]:
    """The evidence of each circle in `keys`. Raises MeasurementFailed if the boot has none, with
    its reason.
    """
    hello = next((record for record in traced.records if isinstance(record, Hello)), None)
    if hello is None:
        raise MeasurementFailed(f"{target} was traced and wrote no records; run it without tracing")
    contracts = {
        record.contract.key: record.contract
        for record in traced.records
        if isinstance(record, Circle)
    }
    tests = trace.to_explain(traced.records, keys)
    others = {
        key: _pair(latency)
        for key in FLOOR_KEYS
        if (latency := turn_latency(traced.records, key)) is not None
    }
    found = {}
    for key in keys:
        if key not in tests or key not in traced.windows:
            raise MeasurementFailed(
                f"{target} has no test of {key} to explain: {why_untraced(traced.records, key)}"
            )
        latency = _latency(traced, key) if tests[key].turns > 1 else None
        whole = traced.windows[key]
        steps, elsewhere = _by_hart(whole)
        facts = Facts(
            target,
            {**hello.configuration, **traced.settings},
            hello.clock,
            contracts[key],
            role,
            tests[key],
            _pair(Fraction(tests[key].value) if latency is None else latency),
            others,
            located(whole, traced.places),
        )
        found[key] = Evidence(facts, steps, traced.places, elsewhere)
    return found


def _latency(traced: TraceResult, key: str) -> Fraction | None:
    return traced.latencies.get(key) or turn_latency(traced.records, key)


def of_latency(one: Evidence, latency: Fraction) -> Evidence:
    """The same test, of which the turn to explain shall last `latency` clock units, as another run
    measured; a single pass stays as it is.
    """
    if one.facts.test.turns == 1:
        return one
    return replace(one, facts=msgspec.structs.replace(one.facts, latency=_pair(latency)))


def turn_latency(records: Iterable[Record], key: str) -> Fraction | None:
    """Latency of a turn of circle `key` in clock units: the slope between the last tests of the
    smallest and the largest size. None without two sizes.
    """
    last = {
        record.turns: record.values[-1]
        for record in records
        if isinstance(record, Group) and record.circle == key
    }
    few, many = min(last, default=0), max(last, default=0)
    return Fraction(last[many] - last[few], many - few) if few < many else None


def pack(evidence: Evidence) -> bytes:
    """As a bundle keeps it: the facts as one line of JSON, then the trace file, compressed alike
    every time.
    """
    line = msgspec.json.encode(evidence.facts)
    steps = trace.joined({0: evidence.steps, **evidence.elsewhere})
    return gzip.compress(line + b"\n" + trace.encode(steps), mtime=0)


def unpack(data: bytes, where: str) -> Evidence:
    """What `pack` made. Raises BadFile if it is damaged or would be too large."""
    try:
        plain = gzip.GzipFile(fileobj=BytesIO(data)).read(_UNPACKED_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(f"{where} is damaged ({error}); restore the bundle or trace again") from error
    if len(plain) > _UNPACKED_MAX_BYTES:
        raise BadFile(
            f"{where} unpacks to more than {_UNPACKED_MAX_BYTES >> 20} MiB; trace the circle again"
        )
    line, _, rest = plain.partition(b"\n")
    try:
        facts = msgspec.json.decode(line, type=Facts)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise BadFile(f"{where} is damaged ({error}); restore the bundle or trace again") from error
    if 0 in (facts.latency[1], *(pair[1] for pair in facts.others.values())):
        raise BadFile(f"{where} has a latency over zero turns; restore the bundle or trace again")
    steps, elsewhere = _by_hart(trace.decode(rest, where))
    return Evidence(facts, steps, _places(facts.places), elsewhere)


def _by_hart(steps: Steps) -> tuple[Steps, dict[int, Steps]]:
    """The steps of the client's hart, and those of the others."""
    lanes = trace.lanes(steps)
    return lanes.pop(0, steps[:0]), lanes


def name(key: str, role: str) -> str:
    """Of the file in a bundle."""
    return f"{FOLDER}/{key}.{role}.gz"


def located(steps: Steps, places: AddressMap) -> tuple[Located, ...]:
    """The places of all instructions in a window, each once."""
    pairs = {
        (bool(user), int(pc))
        for user, pc in zip(steps["privilege"] == trace.USER, steps["pc"], strict=True)
    }
    return tuple(Located(user, pc, places.at(pc, user)) for user, pc in sorted(pairs))


def _places(located: Iterable[Located]) -> AddressMap:
    images: tuple[dict[int, Place], dict[int, Place]] = ({}, {})
    for one in located:
        images[one.user][one.pc] = one.place
    return AddressMap(*images)


def _pair(latency: Fraction) -> tuple[int, int]:
    return latency.numerator, latency.denominator


def why_untraced(records: Iterable[Record], key: str) -> str:
    """What the boot says of a circle without a test, as a phrase."""
    reasons = (
        record.reason
        for record in records
        if isinstance(record, Failed | Skipped) and record.circle == key
    )
    return next(reasons, "this configuration has no such circle")
