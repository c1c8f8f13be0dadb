# SPDX-License-Identifier: BSD-2-Clause
"""Each rule on the smallest bundle that breaks it, and on one that does not."""

from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle.model import Bundle, Clock
from cyclometer.lint import RULES, check
from cyclometer.lint.shape import period_of, two_modes

from .build import CYCLES, Builder

RATE = Clock("rate", "per_s")
EXACT = Clock("icount", "instructions", exact=True)
RANDOM = np.random.default_rng(5)


def fired(bundle: Bundle) -> dict[str, list[int]]:
    """Rule -> rows it speaks of."""
    found: dict[str, set[int]] = {}
    for finding in check(bundle):
        found.setdefault(finding.rule, set()).update(finding.rows)
    return {rule: sorted(rows) for rule, rows in found.items()}


def test_rules_explain_themselves() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES) == 21
    for rule in RULES:
        assert rule.level in ("error", "warning", "note")
        assert rule.explanation.endswith(".")
        assert rule.fix.endswith(".")


def test_rules_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "foreign-files.md").read_text()
    assert [rule.id for rule in RULES if f"`{rule.id}`" not in page] == []


def test_an_empty_bundle_has_nothing_wrong() -> None:
    assert check(Builder().bundle()) == []


def test_zero_sentinel() -> None:
    b = Builder()
    b.printed(b.row("a.b"), mean=825.0, sd=6.6, minimum=0.0, maximum=0.0, median=0.0, n=100)
    b.printed(b.row("a.c"), mean=928.0, minimum=899.0, maximum=959.0, median=0.0, n=100)
    b.printed(
        b.row("a.events", clock=Clock("pmu", "events")),
        mean=0.2,
        minimum=0.0,
        maximum=9.0,
        median=0.0,
    )
    assert fired(b.bundle())["zero-sentinel"] == [0, 1]


def test_contradiction() -> None:
    b = Builder()
    b.printed(b.row("a.b"), mean=100.0, minimum=120.0, maximum=150.0)
    b.printed(b.row("a.c"), mean=100.0, minimum=90.0, maximum=150.0, median=160.0)
    b.printed(
        b.row("a.d"), mean=100.0, minimum=90.0, maximum=150.0, median=99.0, quantiles={"0.9": 140.0}
    )
    assert fired(b.bundle())["contradiction"] == [0, 1]


@pytest.mark.parametrize("value", [4294367854.0, 4294967295.0, 429494.0, 2.0**64 - 4096])
def test_wrap(value: float) -> None:
    b = Builder()
    b.printed(b.row("a.b"), mean=value)
    b.printed(b.row("a.c"), mean=4.2e9)
    assert fired(b.bundle())["wrap"] == [0]


def test_negative() -> None:
    b = Builder()
    b.printed(b.row("a.b"), mean=5.0, minimum=-447978688.0)
    b.values(b.row("a.c", method="direct"), [5, 6, -1, 5])
    b.values(b.row("a.d", method="direct"), [5, 6, 0, 5])
    assert fired(b.bundle())["negative"] == [0, 1]


def test_overhead_of_a_suite() -> None:
    b = Builder()
    b.printed(b.row("overhead.nop_syscall"), mean=180.0)
    b.printed(b.row("syscall.null", correction="subtracted"), mean=112.0)
    b.printed(b.row("fault.round_trip", correction="subtracted"), mean=12.0)
    assert fired(b.bundle())["overhead"] == [0, 1]


def test_overhead_of_our_own_readings() -> None:
    b = Builder()
    row = b.row("a.b", method="direct")
    b.values(row, [30, 31, 32] * 5)
    b.values(row, [40, 41, 40] * 5, kind=1)
    other = b.row("a.c", method="direct")
    b.values(other, [300, 310, 320] * 5)
    b.values(other, [40, 41, 40] * 5, kind=1)
    assert fired(b.bundle())["overhead"] == [0]


def test_steps_of_raw_values_and_of_printed_means() -> None:
    b = Builder()
    b.values(b.row("a.b", method="direct"), [320, 352, 384, 416, 448, 480] * 3)
    b.values(b.row("a.c", method="direct"), [320, 351, 384, 416, 448, 480] * 3)
    assert fired(b.bundle())["steps"] == [0]
    b = Builder()
    for i in range(8):
        b.printed(b.row(f"a.b{i}"), mean=32.0 * (i + 7))
    assert fired(b.bundle())["steps"] == list(range(8))


def test_printed_mean() -> None:
    b = Builder()
    for printed in (190.0, 191.5):
        row = b.row(f"a.b{printed}", method="direct")
        b.values(row, [265, 296, 169, 175, 169, 175, 176, 165, 169, 145])  # 190.4, cut to 190
        b.printed(row, mean=printed, n=10)
    assert fired(b.bundle())["printed-mean"] == [1]


def test_printed_mean_of_a_group() -> None:
    b = Builder()
    row = b.row("a.b", method="accumulated")
    b.values(row, [10, 20, 30, 40, 50])
    b.printed(row, mean=10.0, group=-1)
    assert fired(b.bundle())["printed-mean"] == [0]


def test_cold_in_mean() -> None:
    b = Builder()
    warm = [200.0, 210.0, 205.0, 198.0, 203.0]
    for name, first, with_it in (("in", 700.0, True), ("out", 700.0, False), ("warm", 205.0, True)):
        row = b.row(f"a.{name}", method="passes")
        values = [first, *warm]
        b.values(row, values)
        b.printed(row, mean=float(round(np.mean(values if with_it else warm))), n=6)
    assert fired(b.bundle())["cold-in-mean"] == [0]


def test_two_modes() -> None:
    b = Builder()
    mixed = np.where(RANDOM.random(400) < 0.3, 1300, 1000) + np.round(RANDOM.normal(0, 8, 400))
    b.values(b.row("a.mixed", method="direct"), mixed)
    b.values(b.row("a.one", method="direct"), 1000 + np.round(RANDOM.normal(0, 30, 400)))
    b.values(b.row("a.tail", method="direct"), 1000 + np.round(RANDOM.exponential(60, 400)))
    assert fired(b.bundle())["two-modes"] == [0]


def test_two_modes_are_seldom_seen_in_one() -> None:
    source = np.random.default_rng(1)
    shapes = [lambda n: source.normal(1000, 20, n), lambda n: 1000 + source.gamma(2, 30, n)]
    seen = [
        two_modes(np.round(shape(n)))
        for shape in shapes
        for n in (50, 100, 1000)
        for _ in range(60)
    ]
    assert sum(modes is not None for modes in seen) <= 0.05 * len(seen)


def test_two_modes_gives_where_they_are() -> None:
    source = np.random.default_rng(2)
    modes = two_modes(np.r_[source.normal(1000, 5, 300), source.normal(1200, 5, 100)])
    assert modes is not None
    assert modes[:2] == pytest.approx((1000, 1200), rel=0.01)
    assert modes[2] == pytest.approx(0.25)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_period(k: int) -> None:
    values = 1000 + np.round(RANDOM.normal(0, 5, 160))
    b = Builder()
    b.values(b.row("a.flat", method="direct"), values)
    b.values(b.row("a.step", method="direct"), values + 40 * (np.arange(160) % k == 0))
    assert fired(b.bundle())["period"] == [1]
    assert period_of(values + 40 * (np.arange(160) % k == 0)) == k


def test_period_is_seldom_seen_in_noise() -> None:
    source = np.random.default_rng(3)
    assert (
        sum(period_of(np.round(source.normal(1000, 9, 100))) is not None for _ in range(300)) <= 2
    )


def test_identical() -> None:
    b = Builder()
    for key, mean, sd in (
        ("a.b", 1650.0, 55.8),
        ("a.c", 1650.0, 55.8),
        ("a.d", 1650.0, 55.9),
        ("a.e", 7.0, 0.0),
        ("a.f", 7.0, 0.0),
    ):
        row = b.row(key)
        for run in range(3):
            b.printed(row, run=run, mean=mean + run, sd=sd, n=100)
    assert fired(b.bundle())["identical"] == [0, 1]


def test_identical_in_one_run_only_is_chance() -> None:
    b = Builder()
    for key, second in (("a.b", 1651.0), ("a.c", 1652.0)):
        row = b.row(key)
        b.printed(row, run=0, mean=1650.0, sd=55.8, n=100)
        b.printed(row, run=1, mean=second, sd=55.8, n=100)
    assert "identical" not in fired(b.bundle())


def test_identical_in_the_only_run_may_be_chance() -> None:
    levels = []
    for runs in (1, 2):
        b = Builder()
        for key in ("a.b", "a.c"):
            row = b.row(key)
            for run in range(runs):
                b.printed(row, run=run, mean=1650.0 + run, sd=55.8, n=100)
        levels += [found.level for found in check(b.bundle()) if found.rule == "identical"]
    assert levels == ["warning", "error"]


def without_spread(key: str, other: str, *, mean: float = 573.0, runs: int = 3) -> list[str]:
    b = Builder()
    for name in (key, other):
        row = b.row(name)
        for run in range(runs):
            b.printed(row, run=run, mean=mean, sd=0.0, n=16)
    return [found.level for found in check(b.bundle()) if found.rule == "identical"]


def test_one_mean_without_spread_under_two_names_of_a_family_is_a_note() -> None:
    assert without_spread("yield.to_thread", "yield.to_process") == ["note"]
    assert without_spread("yield.to_thread", "yield.to_process", runs=2) == []
    assert without_spread("overhead.signal", "overhead.syscall", mean=7.0) == []
    assert without_spread("yield.to_thread", "fault.to_handler") == []


def configurations(clock: Clock, moved: float) -> Bundle:
    b = Builder()
    for name, shift in (("default", 0.0), ("mcs", moved)):
        for i in range(5):
            row = b.row(f"a.b{i}", clock=clock, configuration={"build": name})
            b.printed(row, mean=700.0 + 10 * i + shift, sd=2.0 + i, n=16)
    return b.bundle()


def test_two_configurations() -> None:
    assert fired(configurations(CYCLES, 0.0))["two-configurations"] == list(range(10))
    assert "two-configurations" not in fired(configurations(CYCLES, 3.0))
    assert "two-configurations" not in fired(configurations(EXACT, 0.0))


def two_builds(moved: float, *, runs: int = 5, **options: str) -> list[str]:
    """Levels of what is found in two builds of 24 rows whose runs wander by 1 %."""
    b, source = Builder(), np.random.default_rng(4)
    for configuration, shift in (({}, 1.0), (options, moved)):
        for i in range(24):
            row = b.row(f"a.b{i}", configuration=configuration)
            for run in range(runs):
                mean = (640 + 10 * i) * shift * source.normal(1, 0.01)
                b.printed(row, run=run, mean=mean, sd=9.0, n=16)
    return [found.level for found in check(b.bundle()) if found.rule == "two-configurations"]


def test_builds_no_farther_apart_than_their_runs_may_be_one_image() -> None:
    assert two_builds(1.0, mcs="on") == ["note"]
    assert two_builds(1.05, mcs="on") == []
    assert two_builds(1.0, mcs="on", runs=2) == []
    assert two_builds(1.0, kernel="8f3a") == []  # most commits change no latency


def test_plus_overhead_and_early_late() -> None:
    b = Builder()
    b.printed(b.row("overhead.nop_syscall"), mean=8.0, sd=0.0, n=100)
    b.printed(b.row("syscall.null", correction="subtracted"), mean=112.0, sd=0.0, n=100)
    b.printed(b.row("syscall.null.early"), mean=120.0, sd=0.0, n=100)
    b.printed(b.row("thread.yield.to_thread"), mean=664.0, sd=4.0, n=100)
    b.printed(b.row("thread.yield.to_thread.early"), mean=665.0, sd=4.0, n=100)
    found = fired(b.bundle())
    assert found["plus-overhead"] == [0, 1, 2]
    assert found["early-late"] == [1, 2]


def test_sel4bench_takes_the_least_overhead_off() -> None:
    b = Builder()
    b.printed(b.row("overhead.nop_syscall"), mean=9.5, minimum=8.0, maximum=30.0, sd=3.0, n=100)
    b.printed(b.row("syscall.null", correction="subtracted"), mean=112.0, sd=0.0, n=100)
    b.printed(b.row("syscall.null.early"), mean=120.0, sd=0.0, n=100)
    assert fired(b.bundle())["plus-overhead"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("sd", "maximum", "wrong"), [(10.0, 203.0, False), (10.0, 215.0, True), (0.0, 140.0, True)]
)
def test_an_extreme_that_the_spread_excludes(sd: float, maximum: float, wrong: bool) -> None:
    b = Builder()
    b.printed(b.row("a.b"), mean=100.0, minimum=95.0, maximum=maximum, sd=sd, n=101)
    b.printed(b.row("a.c"), mean=100.0, minimum=200.0 - maximum, maximum=101.0, sd=sd, n=101)
    assert fired(b.bundle()).get("contradiction", []) == ([0, 1] if wrong else [])


def test_no_sample_contradicts_itself_however_heavy_its_tail() -> None:
    b = Builder()
    for ddof in (0, 1):
        for n in (2, 3, 16, 1000):
            values = 100 + np.round(50 * RANDOM.pareto(1.1, size=n))
            ends = {"minimum": values.min(), "maximum": values.max()}
            sd = round(values.std(ddof=ddof))
            b.printed(b.row(f"a.n{n}.d{ddof}"), mean=round(values.mean()), sd=sd, n=n, **ends)
    assert "contradiction" not in fired(b.bundle())


def test_rows_below_their_overhead_are_one_finding_over_all_configurations() -> None:
    b = Builder()
    for bits in ("32", "64"):
        b.printed(b.row("overhead.fault", configuration={"bits": bits}), mean=50.0)
        b.printed(
            b.row("fault.handler", correction="subtracted", configuration={"bits": bits}), mean=20.0
        )
    (finding,) = [f for f in check(b.bundle()) if f.rule == "overhead"]
    assert finding.what.endswith("is less than its overhead 50, and in 1 more configuration(s)")
    assert set(finding.rows) == {0, 1, 2, 3}


def test_order() -> None:
    b = Builder()
    for key, mean in (
        ("e.call.same", 690.0),
        ("e.call.cross", 640.0),
        ("e.send.same", 500.0),
        ("e.send.cross", 640.0),
    ):
        b.printed(b.row(key), mean=mean, sd=10.0, n=16)
    assert fired(b.bundle())["order"] == [0, 1]


def turned_round(builds: int, wrong: int, ratio: float) -> set[str]:
    """Rules that speak of rows that stand the wrong way round by `ratio` in some of many builds."""
    b = Builder()
    for build in range(builds):
        by = ratio if build < wrong else 0.9
        for key, mean in (("e.call.same", 1000 * by), ("e.call.cross", 1000.0)):
            row = b.row(key, configuration={"kernel": str(build)})
            b.printed(row, mean=mean, sd=4.0, n=16)
            early = b.row(f"{key}.early", configuration={"kernel": str(build)})
            b.printed(early, mean=mean * (ratio if build < wrong else 1.0), sd=4.0, n=16)
    return set(fired(b.bundle())) & {"order", "early-late"}


def test_what_another_layout_moves_and_what_single_builds_show_is_no_finding() -> None:
    assert turned_round(1, 1, 1.05) == {"order", "early-late"}
    assert turned_round(1, 1, 1.025) == set()
    assert turned_round(30, 2, 1.05) == set()
    assert turned_round(30, 3, 1.05) == {"order", "early-late"}


def test_rows_that_differ_from_run_to_run_are_seldom_called_unlike() -> None:
    source, alarms = np.random.default_rng(6), 0
    for _ in range(200):
        b = Builder()
        for key in ("e.call.same", "e.call.cross", "e.call.same.early"):
            row = b.row(key)
            for run in range(4):
                b.printed(row, run=run, mean=source.normal(1000, 25), sd=10.0, n=16)
        alarms += bool({"order", "early-late"} & fired(b.bundle()).keys())
    assert alarms <= 4  # the errors of the tests alone would let some 25 through


def test_correction() -> None:
    b = Builder()
    for key, correction in (
        ("events.set.wake+ctx.k_to_k", "subtracted"),
        ("events.post.wake+ctx.k_to_k", "none"),
        ("fifo.get.immediate.kernel", "subtracted"),
        ("fifo.put.immediate.kernel", "subtracted"),
        ("fifo.put.alloc.immediate.kernel", "none"),
    ):
        b.printed(b.row(key, correction=correction), mean=700.0)
    assert fired(b.bundle())["correction"] == [0, 1, 3, 4]


def changes(*printed: float) -> Bundle:
    b = Builder()
    for i, change in enumerate(printed):
        for state, mean in (("before", 4560.72), ("after", 3177.89)):
            row = b.row(f"a.b{i}", configuration={"state": state})
            b.printed(
                row,
                mean=mean,
                sd=100.0,
                n=100,
                extra={"change_pct": change} if state == "after" else {},
            )
    return b.bundle()


def test_change_base() -> None:
    assert "change-base" not in fired(changes(-30.32, -30.32))
    assert fired(changes(-43.51, -43.51))["change-base"] == [0, 1, 2, 3]
    assert fired(changes(-30.32, -12.0))["change-base"] == [2, 3]  # a mistake, not another base


def test_change_noise() -> None:
    b = Builder()
    for i, (after, n) in enumerate(
        ((1005.0, 16), (1005.0, 10_000), (1005.0, None), (1090.0, None))
    ):
        for state, mean in (("before", 1000.0), ("after", after)):
            row = b.row(f"a.b{i}", configuration={"state": state})
            b.printed(
                row,
                mean=mean,
                sd=40.0,
                n=n,
                extra={"change_pct": (after - 1000) / 10} if state == "after" else {},
            )
    assert fired(b.bundle())["change-noise"] == [0, 1, 4, 5]


def test_few() -> None:
    b = Builder()
    one, three, exact = b.row("a.one"), b.row("a.three"), b.row("a.exact", clock=EXACT)
    b.printed(one, mean=5.0, n=100)
    for run in range(3):
        b.printed(three, run=run, mean=5.0, n=100)
    b.printed(exact, mean=5.0, n=100)
    b.values(b.row("a.small", method="passes"), [5, 6, 7])
    b.values(b.row("a.small", method="proof"), [5, 6, 7])  # no latency is claimed of it
    assert fired(b.bundle())["few"] == [0, 3]
    (alone, small) = [finding for finding in check(b.bundle()) if finding.rule == "few"]
    assert small.what == "1 of 5 rows rest on fewer than 10 values: a.small (passes)"
    assert "a.one (reported)" in alone.what


def test_clock_rate() -> None:
    b = Builder()
    for i, (cycles, ns) in enumerate(
        ((315, 2625), (374, 3124), (59, 492), (510, 4257), (610, 5583))
    ):
        b.printed(b.row(f"a.b{i}"), mean=float(cycles), extra={"ns": float(ns)})
    assert fired(b.bundle())["clock-rate"] == [4]


def test_direction() -> None:
    b = Builder()
    b.printed(b.row("a.rate", clock=RATE, better="lower"), mean=5e6)
    b.printed(b.row("a.latency", better="higher"), mean=5.0)
    b.printed(b.row("a.fine"), mean=5.0)
    errors = [f for f in check(b.bundle()) if f.rule == "direction" and f.level == "error"]
    assert sorted(row for finding in errors for row in finding.rows) == [0, 1]
