# SPDX-License-Identifier: BSD-2-Clause
"""The records of FORMAT.md as types, schema 1, and the words that bundles share with them."""

from typing import Annotated

import msgspec

SCHEMA = 1

MAX_TURNS = 1 << 40
MIN_NUMBER, MAX_NUMBER = 1e-15, 1e30
"""Every figure of a bundle is 0 or between these in size, so that squares and ratios are finite."""
# Bounds that hold for whatever is decoded; beyond them a record is damaged and a bundle refused.
Turns = Annotated[int, msgspec.Meta(ge=0, le=MAX_TURNS)]
Index = Annotated[int, msgspec.Meta(ge=-1, le=(1 << 31) - 1)]
"""Number of a visit or group, -1 for none; the type of the columns."""
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 20)]
Reading = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Hertz = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class Clock(msgspec.Struct, frozen=True):
    """A clock: its unit is one of `units.UNITS`; `hz` is 0 if unknown; `exact` ones repeat to
    the digit.
    """

    name: str
    unit: str
    hz: Hertz = 0.0
    exact: bool = False

    def __post_init__(self) -> None:
        if 0 < self.hz < 1:
            raise ValueError(f"a clock of {self.hz:g} Hz, less than one tick a second")


class Span(msgspec.Struct, frozen=True):
    """Which part of a turn is timed (`round_trip`, `one_way`, `half`, or `unknown`) and the event
    at each end.
    """

    kind: str = "unknown"
    start: str = msgspec.field(name="from", default="")
    stop: str = msgspec.field(name="to", default="")


class Contract(msgspec.Struct, frozen=True):
    """What a circle times. `expect`: counter name -> exact count per turn; `at_least`: counter name
    -> lower bound per turn.

    `source` is the file and line of its definition, "" if the target does not report one. It is for
    the reader only: two circles that differ in nothing else are alike.
    """

    key: str
    title: str = ""
    sequence: tuple[str, ...] = ()
    interval: Span = Span()
    expect: dict[str, Count] = {}
    at_least: dict[str, Count] = {}
    params: dict[str, str] = {}
    correction: str = "none"
    source: str = ""

    def counts(self) -> dict[str, str]:
        """Counter name -> count per turn, as text for people."""
        least = {name: f"at least {count}" for name, count in self.at_least.items()}
        return {name: str(count) for name, count in self.expect.items()} | least


class Flow(msgspec.Struct, frozen=True):
    """KBench's flow: group g of `groups` has `tests` tests of `initial + g * delta` turns."""

    initial: Turns
    delta: Annotated[int, msgspec.Meta(ge=-MAX_TURNS, le=MAX_TURNS)]
    groups: Index
    tests: Index


class Hello(msgspec.Struct, frozen=True, tag="hello", tag_field="kind"):
    seq: int
    schema: int
    target: str
    kernel: str
    clock: Clock
    configuration: dict[str, str] = {}
    build: dict[str, str] = {}
    run: int = 0
    chain_cycles: Reading = 0  # length of the chain beside each test; 0: there is none
    origin: Reading = 0  # clock that `at` counts from; 0: the runs have different clocks
    origin_ns: Reading = 0  # the raw monotonic clock of its machine at that moment; 0: none


class Circle(msgspec.Struct, frozen=True, tag="circle", tag_field="kind"):
    seq: int
    contract: Contract
    method: str
    flow: Flow


class Values(msgspec.Struct, frozen=True):
    """Members that groups, passes and overheads share; every list is of one length."""

    seq: int
    circle: str
    method: str
    visit: Index
    group: Index
    turns: Turns
    values: list[int]
    at: list[int]
    counters: dict[str, list[int]] = {}

    def __post_init__(self) -> None:
        lengths = {len(self.values), len(self.at), *(len(c) for c in self.counters.values())}
        if len(lengths) != 1:
            raise ValueError("lists of different lengths")
        if self.turns < 1:
            raise ValueError("turns below 1")


class Group(Values, frozen=True, tag="group", tag_field="kind"):
    pass


class Pass(Values, frozen=True, tag="pass", tag_field="kind"):
    pass


class Overhead(Values, frozen=True, tag="overhead", tag_field="kind"):
    pass


class Surroundings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happened from before a visit's first test to behind its last one; None: unknown.

    elapsed_ns: how long that was. foreign_switches: switches of the CPU that are none of the
    participants'. steal_ns: time the host ran something else. pressure_us: time in which some task
    of the machine waited for a CPU (Linux, Documentation/accounting/psi.rst). idle_us: time that a
    CPU of the machine was idle, on average over all of them. clock_offset_ns: the most by which the
    clocks of the two CPUs were apart. idle_states: how often the peers' CPU entered each of its
    idle states.
    """

    elapsed_ns: Reading
    foreign_switches: Reading | None = None
    steal_ns: Reading | None = None
    pressure_us: Reading | None = None
    idle_us: Reading | None = None
    clock_offset_ns: Reading | None = None
    idle_states: dict[str, Reading] | None = None


class Visited(msgspec.Struct, frozen=True, tag="visit", tag_field="kind"):
    """The end of a visit, and what happened beside it."""

    seq: int
    circle: str
    method: str
    visit: Index
    counts: Surroundings


class Events(msgspec.Struct, frozen=True, tag="events", tag_field="kind"):
    """What really happened in one turn, in the words of a contract's sequence."""

    seq: int
    circle: str
    events: list[str]


class Failed(msgspec.Struct, frozen=True, tag="failed", tag_field="kind"):
    seq: int
    circle: str
    reason: str


class Skipped(msgspec.Struct, frozen=True, tag="skipped", tag_field="kind"):
    seq: int
    circle: str
    reason: str


class End(msgspec.Struct, frozen=True, tag="end", tag_field="kind"):
    seq: int
    records: int
    values: int


Record = Hello | Circle | Group | Pass | Overhead | Visited | Events | Failed | Skipped | End
