# SPDX-License-Identifier: BSD-2-Clause
"""Comparing on base, overall, mean, 99 % quantile and maximum; a latency that stays while a tail
grows is not `equivalent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cyclometer.bundle import store
from cyclometer.bundle.model import COLUMNS, SCHEMA, Bundle, Contract, Identity, Row, samples
from cyclometer.compare.finding import Finding, Options
from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import compare, gate_code
from cyclometer.estimate.latencies import P99_TURNS
from tests.compare.bundles import TSC, Spec, bundle, one_side
from tests.compare.recorded import recorded
from tests.compare.test_compare_command import run

RUNS, TURNS = 5, 300


def turns(seed: int, share: float = 0.0, times: float = 1.0, tests: int = TURNS) -> Bundle:
    """Single turns of 1000 ticks with 0.5 % of noise; the same number in each run of them, a
    `share`, takes so many `times` as long.
    """
    rng = np.random.default_rng(seed)
    value = 1000 * rng.normal(1, 0.005, (RUNS, tests)) * rng.normal(1, 0.0005, (RUNS, 1))
    value[:, rng.permutation(tests)[: round(share * tests)]] *= times
    columns = dict.fromkeys(COLUMNS, np.zeros(value.size)) | {
        "run": np.repeat(np.arange(RUNS), tests),
        "test": np.tile(np.arange(tests), RUNS),
        "turns": np.ones(value.size),
        "value": value.ravel(),
    }
    rows = (Row(Contract("a.b"), TSC, "direct"),)
    return Bundle(Identity(SCHEMA, "2026-11-01T00:00:00+00:00", "linux", rows), samples(columns))


def judged(after: Bundle, *on: str) -> list[Finding]:
    options = Options(on=on or ("latency",))
    return list(compare(side([turns(1)]), side([after]), options).findings)


def test_nothing_changed_is_equivalent_on_what_is_known_so_well() -> None:
    found = judged(turns(2), "latency", "base", "overall", "mean", "p99")
    assert [f.pair.on for f in found] == ["latency", "base", "overall", "mean", "p99"]
    assert {f.verdict for f in found} == {"equivalent"}


@pytest.mark.parametrize(
    ("share", "times", "says"), [(0.2, 5.0, "mean moved by +79"), (0.02, 50.0, "mean moved by +9")]
)
def test_a_few_calls_that_take_many_times_as_long_are_not_equivalent(
    share: float, times: float, says: str
) -> None:
    """The audit's two cases: base and median stay to the permille."""
    (found,) = judged(turns(2, share, times))
    assert found.change == pytest.approx(0, abs=0.005)
    assert found.verdict == "undecided"
    assert f"the latency stays, but {says}" in found.reason
    assert judged(turns(2, share, times), "mean")[0].verdict == "regressed"
    assert judged(turns(2, share, times), "base")[0].verdict == "equivalent"
    assert gate_code(compare(side([turns(1)]), side([turns(2, share, times)]))) == 3


def test_a_tail_is_judged_with_its_own_interval() -> None:
    p99, most = judged(turns(2, 0.02, 1.2), "p99", "max")
    assert (p99.verdict, most.verdict) == ("regressed", "regressed")
    assert p99.change == pytest.approx(0.2, abs=0.02)
    assert p99.interval is not None
    assert p99.interval.contains(p99.change)
    (found,) = judged(turns(2, 0.02, 1.2))
    assert "p99 moved by" in found.reason  # the mean rose by 0.4 %, less than the margin


def test_a_faster_latency_with_a_longer_mean_is_no_improvement() -> None:
    after = turns(2, 0.02, 50.0)
    after.samples.value[:] *= 0.97
    (found,) = judged(after)
    assert found.verdict == "undecided"
    assert "but mean moved by +" in found.reason


def test_p99_needs_turns_enough_and_single_ones() -> None:
    assert judged(turns(2, tests=P99_TURNS - 1), "p99") == []
    assert len(judged(turns(2, tests=P99_TURNS), "p99")) == 1
    several = turns(2)
    several.samples.turns[:] = 10
    several = Bundle(
        Identity(SCHEMA, "", "linux", (Row(Contract("a.b"), TSC, "accumulated"),)), several.samples
    )
    found = compare(side([several]), side([several]), Options(on=("mean", "max"))).findings
    assert [f.pair.on for f in found] == ["mean"]


@pytest.mark.parametrize(("on", "after"), [("mean", 1.5), ("max", 2.0), ("p99", 3.0)])
def test_what_a_tool_printed_is_judged_where_it_printed_it(on: str, after: float) -> None:
    def printed(factor: float, runs: Sequence[float]) -> Spec:
        grown = {"mean": 1.5, "max": 2.0, "p99": 3.0} if factor > 1 else {}
        summary = {
            "maximum": 9000.0 * grown.get("max", 1),
            "quantiles": {"0.99": 3000.0 * grown.get("p99", 1)},
        }
        return Spec("x", [grown.get("mean", 1) * y for y in runs], summary=summary)

    found = compare(
        one_side(printed(1, [100, 101, 100, 99])),
        one_side(printed(2, [100, 100, 101, 99])),
        Options(on=(on,)),
    ).findings
    assert found[0].change == pytest.approx(after - 1, rel=0.01)
    assert found[0].verdict == "regressed"
    without = [one_side(Spec("x", [100, 101])) for _ in range(2)]
    assert bool(compare(*without, Options(on=(on,))).findings) == (on == "mean")


@cache
def recordings() -> list[Bundle]:
    return [recorded("aa1"), recorded("aa2")]


def test_statistics_of_sessions_contain_how_far_sessions_differ() -> None:
    """Runs that share a minute agree about it; without the session component a third of these rows
    would be called changed.
    """
    before, after = (side([one]) for one in recordings())
    found = compare(before, after, Options(on=("overall", "mean"))).findings
    assert len(found) == 2 * 146
    assert all("sessions are assumed to differ" in f.reason for f in found)


def test_the_commands_take_several_statistics(tmp_path: Path) -> None:
    for name, one in (("a", turns(1)), ("b", turns(2, 0.2, 5.0))):
        store.write(one, tmp_path / name, {})
    sides = [tmp_path / "a", tmp_path / "b"]
    assert run("gate", *sides, "--on", "base").returncode == 0
    done = run("gate", *sides, "--on", "base,mean", "--on", "max")
    assert done.returncode == 1
    assert "a.b (mean)" in done.stdout
    refused = run("compare", *sides, "--on", "median")
    assert refused.returncode == 2
    result = " ".join(refused.stderr.replace("│", " ").split())
    assert "'median' is none of latency, base, overall, mean, p99, max" in result
    assert run("compare", "--why", *sides, "--on", "mean").returncode == 2
    for name in ("c", "d"):
        store.write(bundle(Spec("x", [1.0, 2.0])), tmp_path / name, {})
    none = run("gate", tmp_path / "c", tmp_path / "d", "--on", "p99")
    assert none.returncode == 6
    assert "no circle has p99 on both sides" in none.stderr
