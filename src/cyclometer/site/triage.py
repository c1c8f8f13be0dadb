# SPDX-License-Identifier: BSD-2-Clause
"""Which changes of a store's circles somebody has to look at, and which were looked at.

A change is judged against its row's own history, as Perfherder and rustc-perf do: by the change
points of the row, and by whether its newest value lies beyond what the row did before. An alert is
acknowledged by a file in the store, one an alert, so that two people do not need a lock.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from cyclometer.compare.history import ChangePoint, Series
from cyclometer.errors import UsageError
from cyclometer.store.location import Location
from cyclometer.text import counted

FENCE = 3.0
"""Distances between quartiles beyond a quartile at which a newest value stands out."""
RECENT = 30
"""Points of a row that its newest one is held against."""
_FOLDER = "acknowledged"
_ID = re.compile(r"[0-9a-f]{10}")

Direction = Literal["regressed", "improved", "changed"]


class Alert(msgspec.Struct, frozen=True):
    """A change that nobody needs to find a second time: its id says which row, since which bundle.

    change: (after - before) / before. cause: what changed in the identity there, a line each.
    """

    id: str
    key: str
    direction: Direction
    change: float
    since: str
    bundle: str
    cause: tuple[str, ...]


class TriageState(msgspec.Struct, frozen=True):
    """A row in a line: its newest value against the one before and against the best, and its
    alerts. `stands_out`: the newest value of a noisy clock lies beyond the fences of its recent
    past.
    """

    key: str
    configuration: dict[str, str]
    target: str
    unit: str
    points: int
    newest: float
    newest_bundle: str
    when: str
    against_previous: float | None
    against_best: float
    stands_out: bool
    alerts: tuple[Alert, ...]


def state(likeness: str, series: Series, higher_is_better: bool) -> TriageState:
    """What a row's history comes to."""
    values = np.array([point.value for point in series.points])
    last = series.points[-1]
    best = values.max() if higher_is_better else values.min()
    return TriageState(
        key=series.key,
        configuration=last.configuration,
        target=last.identity.get("target", ""),
        unit=series.unit,
        points=values.size,
        newest=last.value,
        newest_bundle=last.bundle,
        when=last.when,
        against_previous=float(values[-1] / values[-2] - 1) if values.size > 1 else None,
        against_best=float(values[-1] / best - 1),
        stands_out=last.floor is None and stands_out(values),
        alerts=tuple(_alert(likeness, change, higher_is_better) for change in series.changes),
    )


def stands_out(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Whether the last value lies beyond the fences of the RECENT ones before it."""
    before = values[-RECENT - 1 : -1]
    if before.size < 8:
        return False
    low, high = np.quantile(before, (0.25, 0.75))
    room = FENCE * (high - low)
    return bool(values[-1] > high + room or values[-1] < low - room)


def _alert(likeness: str, change: ChangePoint, higher_is_better: bool) -> Alert:
    name = hashlib.sha256(f"{likeness}\0{change.first.bundle}".encode()).hexdigest()[:10]
    worse = (change.change > 0) != higher_is_better
    counted = change.first.floor is not None and change.first.unit == "instructions"
    return Alert(
        name,
        change.first.key,
        "changed" if counted else "regressed" if worse else "improved",
        change.change,
        change.first.when,
        change.first.bundle,
        tuple(f"{n}: {b or 'unknown'} -> {a or 'unknown'}" for n, b, a in change.changed),
    )


def sentence(states: Sequence[TriageState], acknowledged: Mapping[str, str]) -> str:
    """The suite in one line."""
    alerts = [alert for one in states for alert in one.alerts]
    waiting = [alert for alert in alerts if alert.id not in acknowledged]
    of = Counter(alert.direction for alert in waiting)
    outside = sum(one.stands_out for one in states)
    words = [counted(of["regressed"], "regression"), counted(of["improved"], "improvement")]
    words += [counted(of["changed"], "changed count")] if of["changed"] else []
    open_ones = f"to review: {', '.join(words)}"
    done = f"; acknowledged: {len(alerts) - len(waiting)}"
    odd = f"; standing out: {counted(outside, 'newest value')}" if outside else ""
    return f"{counted(len(states), 'circle')}; {open_ones}{done}{odd}."


def acknowledge(location: Location, alert: str, why: str) -> None:
    """Notes in the store that an alert was looked at. UsageError if it is not an alert's id."""
    if not _ID.fullmatch(alert):
        raise UsageError(f"{alert[:40]!r} is not an alert; the site lists them as ten hex digits")
    quoted = msgspec.json.encode(why).decode()  # a JSON text is a TOML one
    location.write(f"{_FOLDER}/{alert}.toml", f"why = {quoted}\n".encode())


def acknowledged(location: Location) -> dict[str, str]:
    """Alert -> why it needs no look any more. A file that cannot be read acknowledges nothing."""
    found = {}
    for name, content in location.read_all(location.names(_FOLDER)).items():
        alert = name.rpartition("/")[2].removesuffix(".toml")
        try:
            found[alert] = str(tomllib.loads(content.decode()).get("why", ""))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            continue
    return found
