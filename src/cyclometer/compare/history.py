# SPDX-License-Identifier: BSD-2-Clause
"""The history of a store: when each circle changed, by how much, and what else changed at that
point.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise

import numpy as np
from scipy import special

from cyclometer.bundle.model import Bundle
from cyclometer.compare import edivisive, exact, pettitt
from cyclometer.compare.finding import Options
from cyclometer.compare.pairing import (
    VERSIONS,
    Across,
    ComparedCircle,
    environment,
    likeness,
    made,
    side,
)
from cyclometer.compare.statistics import beyond
from cyclometer.estimate.interval import FloatArray, critical_value
from cyclometer.estimate.levels import LevelsEstimate

FEWEST = 12
"""Points from which permutations find a change; of fewer points too few of them are different."""
SHORTEST = 3
"""Points a stretch of the history must have: what comes and goes within fewer is called noise."""

LONG = 200
"""Points from which on changes are sought by ranks: e-divisive takes minutes for a thousand."""


Window = tuple[date | None, date | None]  # its first and its last day


@dataclass(frozen=True)
class Point:
    """One bundle's latency of a circle, and the identity of what was measured then."""

    key: str
    value: float
    unit: str
    configuration: dict[str, str]
    floor: float | None  # what moving code alone changes on an exact clock; None on a noisy one
    when: str  # as the foreign file says it, or when the bundle was made
    bundle: str
    identity: dict[str, str]
    error: float = 0.0  # standard error of the value as a fraction, by its own interval; 0 unknown
    better: str = "lower"  # or higher


@dataclass(frozen=True)
class ChangePoint:
    """A change between two points of a series: levels are means of the stretches on either side.

    `p` is None on an exact clock. `changed`: (name, before, after) of the identity of the two
    points.
    """

    last: Point
    first: Point
    before: float
    after: float
    p: float | None
    changed: tuple[tuple[str, str, str], ...]

    @property
    def change(self) -> float:
        """(after - before) / before, a fraction."""
        return (self.after - self.before) / self.before


@dataclass(frozen=True)
class Series:
    """A circle's points in order of time, and the changes among them; `missing` bundles had no
    valid estimate.
    """

    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...]
    missing: int

    @property
    def key(self) -> str:
        """Of the circle."""
        return self.points[0].key

    @property
    def unit(self) -> str:
        """Of the points' values."""
        return self.points[0].unit


def history(
    bundles: Sequence[Bundle], options: Options | None = None, across: Across | None = None
) -> list[Series]:
    """A series for every circle in every configuration on every clock, versions apart.

    Changes smaller than the margin are left out; so are stretches of fewer than SHORTEST points. On
    an exact clock every step beyond the layout floor is a change. Raises BadFile if a bundle does
    not say when it was made.
    """
    options = options or Options()
    free = frozenset(VERSIONS) | frozenset(across or {})
    ordered = sorted(bundles, key=made)
    found: dict[Hashable, list[Point]] = {}
    missing: dict[Hashable, int] = {}
    for bundle in ordered:
        for circle in side([bundle], options.level).circles:
            name = likeness(circle, free)
            if (
                circle.estimate.valid
                and circle.estimate.latency is not None
                and circle.estimate.latency.value > 0
            ):
                found.setdefault(name, []).append(_point(bundle, circle, options, free))
            else:
                missing[name] = missing.get(name, 0) + 1
    return [series(points, options, missing.get(name, 0)) for name, points in found.items()]


def series(points: Sequence[Point], options: Options, missing: int = 0) -> Series:
    """The points of one circle in order of time, with their changes."""
    return Series(tuple(points), _changes(points, options), missing)


def within(found: Sequence[Series], options: Options, window: Window) -> list[Series]:
    """The histories of what was made in a window of time, with the changes inside it; a point whose
    time is not known is not in it.
    """
    kept = [(one, [p for p in one.points if _is_within(p, window)]) for one in found]
    return [series(points, options, one.missing) for one, points in kept if points]


def _is_within(point: Point, window: Window) -> bool:
    try:
        day = datetime.fromisoformat(point.when).date()
    except ValueError:
        return False
    since, until = window
    return (since is None or since <= day) and (until is None or day <= until)


def _point(bundle: Bundle, circle: ComparedCircle, options: Options, free: frozenset[str]) -> Point:
    e = circle.estimate
    assert e.latency is not None
    versions = {name: value for name, value in circle.circumstances.items() if name in free}
    return Point(
        key=circle.key,
        value=e.latency.value,
        unit=e.clock.unit,
        configuration=e.configuration,
        floor=exact.layout_floor(options, e) if e.clock.exact else None,
        when=_began(bundle, e.runs[0].run) or bundle.identity.created,
        bundle=bundle.path or bundle.identity.title,
        identity=environment(bundle) | versions,
        error=_own_error(e.latency),
        better=e.better,
    )


def _own_error(latency: LevelsEstimate) -> float:
    half = latency.interval.half_width / latency.value
    return half / critical_value(latency.interval.level) if math.isfinite(half) else 0.0


def _began(bundle: Bundle, run: int) -> str:
    """When a run of a foreign file took place, where the file says so."""
    ingested = bundle.identity.environment.get("ingested", ())
    for file in ingested if isinstance(ingested, list) else ():
        match file:
            case {"runs": list(runs), "first_run": int(first)} if 0 <= run - first < len(runs):
                return str(runs[run - first].get("ts", "")) if isinstance(runs[0], dict) else ""
    return ""


def _changes(points: Sequence[Point], options: Options) -> tuple[ChangePoint, ...]:
    values = np.array([point.value for point in points])
    floors = [point.floor for point in points if point.floor is not None]
    if floors:
        floor = max(floors)
        steps = [
            at for at, (one, other) in enumerate(pairwise(values), 1) if beyond(one, other, floor)
        ]
        divided: list[tuple[int, float | None]] = [(at, None) for at in steps]
    else:
        # logarithms, on which a step up and the way back are equally large
        method = edivisive if values.size <= LONG else pettitt
        logs, short = np.log(values), values.size < FEWEST
        found = _split(points, logs) if short else method.divisions(logs, SHORTEST)
        divided = _large(values, found, options.margin)
    bounds = [0, *(at for at, _ in divided), len(points)]
    return tuple(
        ChangePoint(
            last=points[at - 1],
            first=points[at],
            before=float(values[start:at].mean()),
            after=float(values[at:end].mean()),
            p=p,
            changed=_changed(points[at - 1], points[at]),
        )
        for (at, p), start, end in zip(divided, bounds, bounds[2:], strict=False)
    )


def _split(points: Sequence[Point], logs: FloatArray) -> list[edivisive.Division]:
    """The division of a short series that Student's t finds the least probable under no change,
    if any: SHORTEST points before it, and from one point on after it.

    The points spread by no less than their own intervals say. p is for all places at once
    (Bonferroni). It assumes that points are independent: where they drift, it alarms more often.
    """
    n = logs.size
    own = float(np.mean([point.error**2 for point in points]))
    found = []
    for at in range(SHORTEST, n):
        left, right = logs[:at], logs[at:]
        squares = at * float(left.var()) + (n - at) * float(right.var())
        error = math.sqrt(max(squares / (n - 2), own) * (1 / at + 1 / (n - at)))
        apart = abs(float(right.mean() - left.mean()))
        p = 2 * float(special.stdtr(n - 2, -apart / error)) if error else float(not apart)
        found.append(edivisive.Division(at, min(1.0, p * (n - SHORTEST))))
    best = min(found, key=lambda division: division.p, default=None)
    return [best] if best is not None and best.p <= edivisive.SIGNIFICANCE else []


def _large(
    values: FloatArray, divided: Sequence[edivisive.Division], margin: float
) -> list[tuple[int, float | None]]:
    """Drops the smallest change, and joins its stretches, until all that remain exceed the
    margin.
    """
    kept: list[tuple[int, float | None]] = [(division.at, division.p) for division in divided]
    while kept:
        bounds = [0, *(at for at, _ in kept), values.size]
        level = [float(values[a:b].mean()) for a, b in pairwise(bounds)]
        size = [abs(after / before - 1) for before, after in pairwise(level)]
        least = int(np.argmin(size))
        if size[least] > margin:
            break
        del kept[least]
    return kept


def _changed(last: Point, first: Point) -> tuple[tuple[str, str, str], ...]:
    names = sorted({*last.identity, *first.identity})
    pairs = ((name, last.identity.get(name, ""), first.identity.get(name, "")) for name in names)
    return tuple((name, before, after) for name, before, after in pairs if before != after)
