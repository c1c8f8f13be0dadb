# SPDX-License-Identifier: BSD-2-Clause
"""The records of FORMAT.md as types, schema 1, and the words that bundles share with them."""

import msgspec

SCHEMA = 1


class Clock(msgspec.Struct, frozen=True):
    """A clock: its unit is one of `units.UNITS`; `hz` is 0 where unknown; `exact` ones repeat to the digit."""

    name: str
    unit: str
    hz: float = 0.0
    exact: bool = False


class Interval(msgspec.Struct, frozen=True):
    """Which part of a turn is timed (`round_trip`, `one_way`, `half`, or `unknown`) and the event at each end."""

    kind: str = "unknown"
    start: str = msgspec.field(name="from", default="")
    stop: str = msgspec.field(name="to", default="")


class Contract(msgspec.Struct, frozen=True):
    """What a circle times. `expect`: counter name -> exact count per turn."""

    key: str
    title: str = ""
    sequence: tuple[str, ...] = ()
    interval: Interval = Interval()
    expect: dict[str, int] = {}
    params: dict[str, str] = {}
    correction: str = "none"


class Flow(msgspec.Struct, frozen=True):
    """KBench's flow: group g of `groups` has `tests` tests of `initial + g * delta` turns."""

    initial: int
    delta: int
    groups: int
    tests: int


class Hello(msgspec.Struct, frozen=True, tag="hello", tag_field="kind"):
    seq: int
    schema: int
    target: str
    kernel: str
    clock: Clock
    configuration: dict[str, str] = {}
    build: dict[str, str] = {}
    run: int = 0


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
    visit: int
    group: int
    turns: int
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


Record = Hello | Circle | Group | Pass | Overhead | Events | Failed | Skipped | End
