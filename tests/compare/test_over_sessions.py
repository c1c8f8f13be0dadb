# SPDX-License-Identifier: BSD-2-Clause
"""Verdicts on sessions: on measurements of a machine that wandered, and on made-up ones."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import msgspec
import numpy as np
import pytest
from scipy import stats

from cyclometer.bundle.model import Bundle
from cyclometer.compare import aa, ancova, component, over_runs, over_sessions
from cyclometer.compare.ancova import AlignedDifference
from cyclometer.compare.component import Component
from cyclometer.compare.finding import Finding, Options
from cyclometer.compare.pairing import Side, pairs, side
from cyclometer.compare.verdicts import Comparison, compare
from tests.compare.recorded import recorded
from tests.estimate.test_session import made
from tests.estimate.visited import Visits

PAIRS = [("aa1", "aa2"), ("aa1", "s1"), ("aa2", "s1")]
CHANGED = ("regressed", "improved")


@cache
def of(name: str, ordered: bool = True) -> Side:
    return side([recorded(name, ordered)])


def changed(found: Comparison) -> list[str]:
    return [f.key for f in found.findings if f.verdict in CHANGED]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_nothing_changed_and_nothing_is_called_changed(before: str, after: str) -> None:
    found = compare(of(before), of(after))
    assert changed(found) == []
    assert len([f for f in found.findings if f.scope == "between sessions"]) == 146


def test_runs_instead_of_sessions_call_some_of_the_same_rows_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The base latency less a fixed cost fitted over the runs, with Welch's t over runs: what
    `compare` does if visits have no axis of time. A third were called changed when the error of
    that cost, which the runs of a side have in common, was left out.
    """
    sides = of("aa1", ordered=False), of("aa2", ordered=False)
    found = compare(*sides)
    assert {f.scope for f in found.findings} == {"between runs"}
    assert len(changed(found)) < 146 / 8
    monkeypatch.setattr(over_runs, "_with_common_error", lambda _, change: change)
    assert len(changed(compare(*sides))) > 146 / 4


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_visits_alone_are_nearly_honest(
    before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the quiet machine p falls below 5 % in about 5 % of the rows. An hour later, beside a
    load, sessions differ by more than their visits know, and few rows by much.
    """
    nothing = Component(0.0, 1.0, "nothing")
    monkeypatch.setattr(component, "assumed", lambda *_: nothing)
    monkeypatch.setattr(component, "of_controls", lambda _: None)
    bases, _ = over_sessions.bases(pairs(of(before), of(after)), Options())
    share = np.mean([basis.change.p < 0.05 for basis in bases])
    assert share < (0.08 if (before, after) == ("aa1", "aa2") else 0.20)
    assert len(changed(compare(of(before), of(after)))) <= 3


def slower(bundle: Bundle, factor: float, *patterns: str) -> Side:
    """The side of a bundle in which circles whose keys begin so took that much longer."""
    rows = bundle.identity.rows
    chosen = [r.contract.key.startswith(patterns) for r in rows]
    value = bundle.samples.value * np.where(np.array(chosen)[bundle.samples.row], factor, 1)
    return side([replace(bundle, samples=replace(bundle.samples, value=value))])


def finding(found: Comparison, key: str) -> Finding:
    return next(f for f in found.findings if f.key == key)


def test_planted_changes_are_found_and_no_others() -> None:
    found = compare(of("aa1"), slower(recorded("aa2"), 1.05, "eventfd.", "unix_"))
    planted = {f.key for f in found.findings if f.key.startswith(("eventfd.", "unix_"))}
    assert set(changed(found)) <= planted
    assert len(changed(found)) >= 0.8 * len(planted) > 8
    assert {f.verdict for f in found.findings} == {"regressed", "undecided"}
    one = finding(found, "eventfd.round_trip.cross.equal")
    assert one.change == pytest.approx(0.05, abs=0.015)
    assert "sessions are assumed to differ by 0.3 %" in one.reason
    backwards = compare(slower(recorded("aa1"), 1.05, "eventfd."), of("aa2"))
    assert {f.verdict for f in backwards.of("improved")} == {"improved"}


def test_the_change_of_overall_is_at_one_speed_of_the_core() -> None:
    found = finding(compare(of("aa1"), of("aa2")), "pipe.round_trip.cross.equal")
    assert found.overall_change is not None
    assert found.overall_change == pytest.approx(0, abs=0.02)


def test_controls_that_moved_together_leave_every_row_undecided() -> None:
    """All circles but the reference took 3 % longer, those of user code, too: not the kernel's
    doing, however sure it is.
    """
    others = tuple({r.contract.key for r in recorded("aa2").identity.rows})
    keys = tuple(key for key in others if not key.startswith("floor."))
    found = compare(of("aa1"), slower(recorded("aa2"), 1.03, *keys))
    assert changed(found) == []
    result = finding(found, "pipe.round_trip.cross.equal").reason
    assert "the machine moved: 17 circles that stay in user code changed by +" in result
    assert finding(found, "pipe.round_trip.cross.equal").more is None


def test_a_core_at_another_speed_leaves_rows_undecided() -> None:
    """Everything took 12 % longer, and so did the floor circles, which say why."""
    found = compare(of("aa1"), slower(recorded("aa2"), 1.12, ""))
    assert changed(found) == []
    one = finding(found, "pipe.round_trip.cross.equal")
    assert "the core's speed changed by 1" in one.reason
    assert one.change == pytest.approx(0, abs=0.02)
    within = compare(of("aa1"), slower(recorded("aa2"), 1.08, ""))
    assert "the core's speed" not in finding(within, "pipe.round_trip.cross.equal").reason


def test_what_controls_moved_is_added_to_every_row() -> None:
    """Circles of user code moved apart, by 3 % up and down: the rows know no more than that."""
    bundle = recorded("aa2")
    up = slower(bundle, 1.03, "mutex.", "memory.malloc", "coroutine.yield")
    plain, wide = compare(of("aa1"), of("aa2")), compare(of("aa1"), up)
    key = "pipe.round_trip.cross.equal"
    assert "circles of user code" in finding(wide, key).reason
    before, after = finding(plain, key).interval, finding(wide, key).interval
    assert before is not None
    assert after is not None
    assert after.half_width > 1.5 * before.half_width


def test_several_sessions_a_side_narrow_the_interval() -> None:
    one = compare(of("aa1"), of("s1"))
    two = compare(side([recorded("aa1"), recorded("aa2")]), of("s1"))
    key = "pipe.round_trip.cross.equal"
    halves = [finding(found, key).interval for found in (one, two)]
    assert halves[0] is not None
    assert halves[1] is not None
    assert halves[1].half_width < 0.95 * halves[0].half_width
    before = finding(two, key).before
    assert before is not None
    assert (before.scope, before.runs) == ("between sessions", 2)


def test_halves_of_one_session_differ_and_are_not_called_different() -> None:
    """The speed of the core drifts by percents within the minute: raw tests of the first half are
    not those of the second.
    """
    record = aa.measure([recorded("aa1")])
    methods = {alarms.method: alarms for alarms in record.methods}
    assert (record.suites, record.circles, record.alone) == (1, 146, 0)
    assert methods["this tool's verdict"].comparisons == 146
    assert methods["this tool's verdict"].alarms == 0
    raw = methods["Welch's t over all samples, p <= 5 %"]
    assert raw.rate > 0.9
    assert stats.binomtest(raw.alarms, raw.comparisons, 0.05).pvalue < 1e-9


def test_the_sessions_are_told() -> None:
    result = compare(of("aa1"), of("aa2")).notes
    assert result[0].startswith("1 against 1 sessions of about ")
    assert "of boots not known, 1 min apart. The core ran " in result[0]
    assert result[1].startswith("17 circles of user code moved by ")
    assert "`cyclometer doctor --calibrate` measures it" in result[2]
    assert compare(side([]), side([])).notes == ()


def renamed(bundle: Bundle) -> Bundle:
    """The bundle with a circle of user code under the name of one that shows the caches."""
    rows = []
    for row in bundle.identity.rows:
        key = "floor.cache" if row.contract.key == "vdso.clock_gettime" else row.contract.key
        contract = msgspec.structs.replace(row.contract, key=key)
        rows.append(msgspec.structs.replace(row, contract=contract))
    return replace(bundle, identity=msgspec.structs.replace(bundle.identity, rows=tuple(rows)))


def test_busier_caches_leave_every_row_undecided() -> None:
    before = side([renamed(recorded("aa1"))])
    busy = compare(before, slower(renamed(recorded("aa2")), 1.05, "floor.cache", "eventfd."))
    assert changed(busy) == []
    assert "a busier machine: floor.cache changed by +" in busy.findings[0].reason
    quiet = compare(before, slower(renamed(recorded("aa2")), 1.05, "eventfd."))
    assert changed(quiet)


@pytest.mark.parametrize(
    ("key", "expect", "verdict"),
    [
        ("mutex.pi.contended.other_cpu", {"faults": 0}, "undecided"),
        ("spin_lock.mcs.contended.other_cpu", {"entries": 0}, "regressed"),
        ("mutex.pi.hand_over.other_cpu", {"faults": 0}, "regressed"),
    ],
)
def test_no_session_decides_a_race_to_sleep(key: str, expect: dict[str, int], verdict: str) -> None:
    def session(turn: float) -> Side:
        rng, made = np.random.default_rng(3), Visits()
        row = made.row(key, expect=expect)
        for visit in range(24):
            one = turn * rng.normal(1, 0.002)
            made.add(row, 1, 10**8 * visit, [one * n for n in (10, 20, 30)], turns=[10, 20, 30])
        return side([made.bundle()])

    (found,) = compare(session(1e4), session(3e4)).findings
    assert found.verdict == verdict
    assert ("race" in found.reason) == (verdict == "undecided")


def two(rng: np.random.Generator, share: float, change: float) -> AlignedDifference:
    """Two sessions of 36 visits, of which a share takes 11 % more, or much more or less."""
    sides = []
    for by in (0.0, change):
        far = rng.random(36) < share
        apart = 0.11 if share > 0.2 else 0.05 * rng.standard_normal(36)
        z = by + 0.003 * rng.standard_normal(36) + far * apart
        sides.append(replace(made(z.tolist()), process=np.arange(36, dtype=np.int32)))
    return ancova.difference([sides[0]], [sides[1]])


def test_visits_that_take_one_of_two_latencies_are_no_change() -> None:
    """Most visits are on one level in one session and on the other in the next."""
    rng = np.random.default_rng(8)
    found = [two(rng, 0.5, 0.0) for _ in range(300)]
    errors = [math.hypot(math.sqrt(one.own_variance), 0.003 * math.sqrt(2)) for one in found]
    called = np.array([abs(one.value) / e > 4 for one, e in zip(found, errors, strict=True)])
    refused = np.array([over_sessions._levels(one) != "" for one in found])
    assert called.mean() > 0.2
    assert (called & ~refused).mean() <= 0.01
    assert "visits have several levels: most of them moved by" in over_sessions._levels(
        next(one for one, out in zip(found, refused, strict=True) if out)
    )


@pytest.mark.parametrize("change", [0.0, 0.03])
@pytest.mark.parametrize("disturbed", [0.0, 0.1])
def test_a_few_disturbed_visits_are_no_level(disturbed: float, change: float) -> None:
    rng = np.random.default_rng(9)
    found = [over_sessions._levels(two(rng, disturbed, change)) for _ in range(200)]
    assert np.mean([one != "" for one in found]) <= 0.06
