# SPDX-License-Identifier: BSD-2-Clause
"""Which circle of one side answers to which of the other, and why the rest does not.

Circles are alike when contract (key, sequence, interval, parameters, correction), circumstances
(machine and configuration), clock, method and direction of better are. Nothing is left out: what
finds no partner is `removed` or `added`, what finds only an unlike one is refused with every
difference named.
"""

from __future__ import annotations

import fnmatch
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from cyclometer.bundle.model import Bundle, Clock, Problem
from cyclometer.errors import BadFile
from cyclometer.estimate import levels
from cyclometer.estimate.latencies import RunEstimate
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.rows import Estimate, estimates

VERSIONS = ("kernel", "manifest", "sel4bench")
"""Options of a configuration that say which version was built. Versions are what people compare,
so they may differ.
"""
OF_MACHINE = frozenset(("target", "cpu"))
"""Circumstances of the machine; one that a bundle does not state is left out."""
MOMENTARY = ("boot_id", "load", "swap_free_bytes", "ingested", "plan")
"""Parts of an environment that differ from minute to minute, or from file to file, and identify
nothing.
"""
RATE_TOLERANCE = 1e-3
"""Two reference clocks whose rates differ by more than this fraction are two clocks."""

Across = Mapping[str, tuple[str, str] | None]
"""Circumstances that may differ, and optionally the values (glob patterns) that choose the sides'
circles.
"""


@dataclass(frozen=True)
class ComparedCircle:
    """One circle of a side, its runs pooled over all bundles, and the circumstances under which it
    was measured.
    """

    estimate: Estimate
    # the configuration, with `target` and `cpu` where they are known
    circumstances: dict[str, str]
    # what was booted in each run, in their order; none where nobody says
    images: tuple[Hashable, ...] = ()

    @property
    def key(self) -> str:
        """Of the circle."""
        return self.estimate.contract.key


@dataclass(frozen=True)
class Side:
    """One side of a comparison. `environment` holds the values that the bundles state, joined where
    they differ.
    """

    circles: tuple[ComparedCircle, ...]
    problems: tuple[Problem, ...] = ()
    environment: dict[str, str] | None = None

    def chosen(self, keep: Callable[[ComparedCircle], bool]) -> Side:
        """The side with only those circles."""
        return replace(self, circles=tuple(c for c in self.circles if keep(c)))


@dataclass(frozen=True)
class Pair:
    """Two like circles, or one that stands alone, or two unlike ones and the `refusal` that says
    why. `on`: the statistic that stands in `latency` on both sides (`compare.statistic`).
    """

    before: ComparedCircle | None
    after: ComparedCircle | None
    refusal: str = ""
    on: str = "latency"

    @property
    def key(self) -> str:
        """Of the circle."""
        either = self.before or self.after
        assert either is not None
        return either.key


def side(bundles: Sequence[Bundle], level: float = 0.95, course: bool = False) -> Side:
    """The circles of several bundles as one side: all runs of a circle are pooled, each being one
    run. `level` and `course` as in `estimates`.
    """
    pools: dict[Hashable, list[ComparedCircle]] = {}
    for bundle in bundles:
        image = _image(bundle)
        found = [
            ComparedCircle(e, _circumstances(bundle, e), (image,) * len(e.runs))
            for e in estimates(bundle, level, course)
        ]
        several = {
            identity for identity, count in Counter(map(likeness, found)).items() if count > 1
        }
        seen: Counter[Hashable] = Counter()
        for circle in found:
            # Where one bundle has a circle several times, say with several flows, they are not runs
            # of each other.
            name = (likeness(circle), circle.estimate.flow if likeness(circle) in several else None)
            pools.setdefault((name, seen[name]), []).append(circle)
            seen[name] += 1
    circles = tuple(pooled(members, level) for members in pools.values())
    problems = tuple(dict.fromkeys(p for bundle in bundles for p in bundle.identity.problems))
    return Side(circles, problems, _joined([environment(bundle) for bundle in bundles]))


def of_runs(
    e: Estimate, runs: Sequence[RunEstimate], level: float, shared: float = 0.0
) -> Estimate:
    """The estimate that these runs alone give; what speaks of single samples is dropped. `shared`
    as in `levels.combine`.
    """
    latency, base, overall = (
        levels.combine([r.value for r in which], [r.interval for r in which], level, common)
        if which
        else None
        for which, common in (
            ([run.latency for run in runs], shared),
            ([run.base for run in runs], 0.0),
            ([run.overall for run in runs], 0.0),
        )
    )
    return replace(
        e,
        latency=latency,
        base=base,
        overall=overall,
        runs=tuple(runs),
        sessions=(),
        tests=sum(run.overall.tests for run in runs),
        row=-1,
        fixed_cost=None,
        tails=None,
        modes=(),
        cold=None,
        steady=None,
        sigma_turn=None,
        sigma_reason="several bundles or a part",
        assumption=e.assumption if len(runs) == 1 else "",
    )


def environment(bundle: Bundle) -> dict[str, str]:
    """What the bundle states about its machine and build, flat: {"mitigations.spectre_v2": "...",
    "tool": "..."}.
    """
    lasting = {
        name: value for name, value in bundle.identity.environment.items() if name not in MOMENTARY
    }
    facts = dict(_flat("", lasting))
    return facts | {"target": bundle.identity.target, "tool": bundle.identity.tool}


def made(bundle: Bundle) -> datetime:
    """When a bundle was made, for the order of a store. Raises BadFile if it does not say so."""
    try:
        when = datetime.fromisoformat(bundle.identity.created)
    except ValueError:
        sentence = f"{bundle.path or 'a bundle'} was made at {bundle.identity.created[:40]!r}"
        raise BadFile(
            f"{sentence}, which is not an ISO 8601 time; restore its bundle.json"
        ) from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def pairs(before: Side, after: Side, across: Across | None = None) -> list[Pair]:
    """Every circle of both sides exactly once, in the order of `before`, then what is new in
    `after`.
    """
    across = across or {}
    left = [c for c in before.circles if _selected(c, across, 0)]
    right = [c for c in after.circles if _selected(c, across, 1)]
    free = frozenset(across) | frozenset(VERSIONS)
    found: list[Pair] = []
    # from what is alike in everything to what differs in what may differ: the strictest takes first
    _take(found, left, right, lambda c: (likeness(c), c.estimate.flow))
    _take(found, left, right, lambda c: likeness(c, frozenset(across)))
    _take(found, left, right, lambda c: likeness(c, free))
    _refuse(found, left, right, free)
    found += [Pair(c, None) for c in left] + [Pair(None, c) for c in right]
    place = {id(c): number for number, c in enumerate((*before.circles, *after.circles))}
    return sorted(
        (_checked(pair) for pair in found), key=lambda pair: place[id(pair.before or pair.after)]
    )


def likeness(circle: ComparedCircle, free: frozenset[str] = frozenset()) -> Hashable:
    """What like circles share, as a key; `free` circumstances may differ."""
    e, c = circle.estimate, circle.estimate.contract
    circumstances = tuple(sorted((n, v) for n, v in circle.circumstances.items() if n not in free))
    contract = (c.key, c.sequence, c.interval, tuple(sorted(c.params.items())), c.correction)
    return contract, circumstances, (e.clock.name, e.clock.unit, e.clock.exact), e.method, e.better


def differences(one: ComparedCircle, other: ComparedCircle, free: Iterable[str] = ()) -> list[str]:
    """In what two circles are unlike, each as a phrase of the reason."""
    a, b = one.estimate, other.estimate
    named: list[tuple[str, Any, Any]] = [
        (name, one.circumstances.get(name, "unknown"), other.circumstances.get(name, "unknown"))
        for name in sorted({*one.circumstances, *other.circumstances} - set(free))
    ]
    named += [
        ("clock", _clock_name(a.clock), _clock_name(b.clock)),
        ("method", a.method, b.method),
        ("interval", _interval_name(a), _interval_name(b)),
        ("sequence", "; ".join(a.contract.sequence), "; ".join(b.contract.sequence)),
        ("parameters", _options(a.contract.params), _options(b.contract.params)),
        ("correction", a.contract.correction, b.contract.correction),
        ("direction of better", a.better, b.better),
    ]
    return [f"{name} {x or 'none'} against {y or 'none'}" for name, x, y in named if x != y]


def circumstances_apart(pair: Pair) -> list[str]:
    """The circumstances in which a refused pair is unlike; none where it is unlike in anything
    else, too.
    """
    if not pair.refusal or pair.before is None or pair.after is None:
        return []
    x, y = pair.before.circumstances, pair.after.circumstances
    names = sorted(name for name in {*x, *y} - set(VERSIONS) if x.get(name) != y.get(name))
    return [] if differences(pair.before, pair.after, {*names, *VERSIONS}) else names


def _take(
    found: list[Pair],
    left: list[ComparedCircle],
    right: list[ComparedCircle],
    identity: Callable[[ComparedCircle], Hashable],
) -> None:
    """Moves to `found` the circles whose identity occurs exactly once on either side."""
    once_left, once_right = _once(left, identity), _once(right, identity)
    both = [name for name in once_left if name in once_right]
    found += [Pair(once_left[name], once_right[name]) for name in both]
    _drop(left, [once_left[name] for name in both])
    _drop(right, [once_right[name] for name in both])


def _once(
    circles: Sequence[ComparedCircle], identity: Callable[[ComparedCircle], Hashable]
) -> dict[Hashable, ComparedCircle]:
    counted = Counter(identity(c) for c in circles)
    return {identity(c): c for c in circles if counted[identity(c)] == 1}


def _refuse(
    found: list[Pair], left: list[ComparedCircle], right: list[ComparedCircle], free: frozenset[str]
) -> None:
    """Moves to `found` circles of one key that are unlike, each with the nearest of the other
    side.
    """
    for circle in list(left):
        rivals = [other for other in right if other.key == circle.key]
        if rivals:
            nearest = min(rivals, key=lambda other: len(differences(circle, other, free)))
            found.append(Pair(circle, nearest, _refusal(circle, nearest, rivals, free)))
            _drop(left, [circle])
            _drop(right, [nearest])


def _drop(circles: list[ComparedCircle], gone: Sequence[ComparedCircle]) -> None:
    names = {id(circle) for circle in gone}
    circles[:] = [circle for circle in circles if id(circle) not in names]


def _refusal(
    circle: ComparedCircle,
    nearest: ComparedCircle,
    rivals: Sequence[ComparedCircle],
    free: frozenset[str],
) -> str:
    unlike = differences(circle, nearest, free)
    if unlike:
        return "; ".join(unlike)
    apart = "; ".join(differences(circle, nearest)) or "flow"
    return (
        f"{len(rivals)} circles of the other side match this one ({apart}); choose one "
        "with --across NAME=X,Y"
    )


def _checked(pair: Pair) -> Pair:
    """Refuses a pair of reference clocks that tick at different rates: their ticks are different
    lengths of time.
    """
    if pair.before is None or pair.after is None or pair.refusal:
        return pair
    one, other = pair.before.estimate.clock, pair.after.estimate.clock
    if (
        one.unit != "ticks"
        or not one.hz
        or not other.hz
        or abs(one.hz / other.hz - 1) <= RATE_TOLERANCE
    ):
        return pair
    return replace(
        pair, refusal=f"clock rate {one.hz / 1e6:.1f} MHz against {other.hz / 1e6:.1f} MHz"
    )


def _selected(circle: ComparedCircle, across: Across, which: int) -> bool:
    chosen = (
        (circle.circumstances.get(name, ""), values[which])
        for name, values in across.items()
        if values
    )
    return all(fnmatch.fnmatchcase(value, pattern) for value, pattern in chosen)


def _circumstances(bundle: Bundle, e: Estimate) -> dict[str, str]:
    """The configuration, the target and the processor, which has no say where a machine is emulated
    to the step.
    """
    processor = "" if e.clock.exact else str(bundle.identity.environment.get("cpu_model", ""))
    facts = {"target": bundle.identity.target, "cpu": processor}
    return e.configuration | {
        name: value for name, value in facts.items() if value not in ("", "unknown")
    }


def pooled(members: Sequence[ComparedCircle], level: float) -> ComparedCircle:
    """One circle of all runs of several bundles; what only one bundle's samples can tell is
    dropped. A bundle in which every test of it was disturbed adds to what was set aside, and makes
    no others bad.
    """
    if len(members) == 1:
        return members[0]
    set_aside: Counter[str] = Counter()
    for m in members:
        set_aside.update(m.estimate.set_aside)
    members = [m for m in members if not m.estimate.drowned] or members
    parts = [m.estimate for m in members]
    bad = next((e for e in parts if not e.valid), None)
    runs = [run for e in parts for run in e.runs]
    # each bundle has an error of its own that its runs have in common
    common = [e.latency.shared * len(e.runs) for e in parts if e.latency]
    together = of_runs(parts[0], runs, level, math.hypot(*common) / max(1, len(runs)))
    # sessions are the repetitions then; their runs share a minute each
    if all(e.sessions for e in parts):
        latency = _over_sessions([e.latency for e in parts if e.latency], level)
        sessions = tuple(one for e in parts for one in e.sessions)
        together = replace(together, latency=latency, sessions=sessions)
    whole = replace(
        together,
        tests=sum(e.tests for e in parts),
        maximum=max((e.maximum for e in parts if e.maximum is not None), default=None),
        clock_offset=max((e.clock_offset for e in parts if e.clock_offset), default=None),
        set_aside=dict(set_aside),
        valid=bad is None,
        reason=bad.reason if bad else "",
        failed=bad is not None and bad.failed,
    )
    return ComparedCircle(
        whole, members[0].circumstances, tuple(image for m in members for image in m.images)
    )


def _over_sessions(latencies: Sequence[LevelsEstimate], level: float) -> LevelsEstimate:
    """The mean over sessions; what runs of one session share makes them no repetitions."""
    values, intervals = [one.value for one in latencies], [one.interval for one in latencies]
    return replace(levels.combine(values, intervals, level), scope="between sessions")


def _image(bundle: Bundle) -> Hashable:
    """What the bundle says that it booted: the same code at other addresses is another image."""
    named = environment(bundle).items()
    return tuple(
        sorted(
            (name, value) for name, value in named if name == "image" or name.startswith("build.")
        )
    )


def _flat(prefix: str, facts: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield prefix + name, str(value)


def _joined(facts: Sequence[dict[str, str]]) -> dict[str, str]:
    names = dict.fromkeys(name for one in facts for name in one)
    return {name: " | ".join(sorted({one[name] for one in facts if name in one})) for name in names}


def _clock_name(clock: Clock) -> str:
    return f"{clock.name} in {clock.unit}{' (exact)' if clock.exact else ''}"


def _interval_name(e: Estimate) -> str:
    interval = e.contract.interval
    return f"{interval.kind} from [{interval.start}] to [{interval.stop}]"


def _options(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(options.items()))
