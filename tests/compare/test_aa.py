# SPDX-License-Identifier: BSD-2-Clause
"""False alarms counted on runs whose truth is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from cyclometer.bundle.model import Bundle
from cyclometer.compare.aa import Alarms, Record, measure
from cyclometer.errors import NothingMeasured
from cyclometer.report import aa as report
from cyclometer.report.documents import kinds
from tests.compare.bundles import Spec, bundle, measured

SPREAD = 0.01


def session(seed: int, runs: int = 4, circles: int = 25, **env: object) -> Bundle:
    """Runs that differ by SPREAD from each other, with tests inside that differ by far less."""
    rng = np.random.default_rng(seed)
    latencies = {
        f"circle{i}": list(1000 * np.exp(SPREAD * rng.standard_normal(runs)))
        for i in range(circles)
    }
    return measured(latencies, seed=seed, created=f"2026-11-01T{seed:02}:00:00+00:00", **env)


def of(record: Record, name: str) -> Alarms:
    return next(alarms for alarms in record.methods if alarms.method.startswith(name))


def test_methods_that_take_samples_for_runs_cry_wolf() -> None:
    record = measure([session(seed) for seed in range(9)])
    assert (record.suites, record.circles, record.alone, record.runs_a_side) == (8, 25, 0, (4, 4))
    over_runs, over_samples = (
        of(record, "Welch's t over runs"),
        of(record, "Welch's t over all samples"),
    )
    assert over_runs.comparisons == over_samples.comparisons == 200
    assert stats.binomtest(over_runs.alarms, 200, 0.05).pvalue > 0.001
    assert over_samples.rate > 0.5
    assert of(record, "Mann-Whitney over all samples").rate > 0.5
    assert of(record, "intervals of the means apart").rate > 0.5
    assert of(record, "this tool").alarms <= over_runs.alarms


def test_thresholds_are_counted_by_their_own_definition() -> None:
    record = measure([session(seed) for seed in range(4)])
    rates = [of(record, f"mean moved by over {t} %").rate for t in (1, 2, 5, 10)]
    assert rates == sorted(rates, reverse=True)
    # The mean of four runs against that of four others: normal with sd SPREAD / sqrt(2).
    assert rates[0] == pytest.approx(2 * stats.norm.sf(0.01, scale=SPREAD / 2**0.5), abs=0.15)
    assert rates[3] == 0


def test_one_bundle_is_divided_into_stretches_of_its_runs() -> None:
    record = measure([session(1, runs=10)])
    assert (record.suites, record.runs_a_side) == (1, (5, 5))
    assert measure([session(1, runs=3)]).runs_a_side == (1, 1)


def test_bundles_of_one_run_are_compared_several_a_side() -> None:
    record = measure([session(seed, runs=1) for seed in range(10)])
    assert (record.suites, record.circles, record.runs_a_side) == (1, 25, (5, 5))
    assert of(record, "Welch's t over runs").comparisons == 25


def test_other_builds_are_not_repetitions() -> None:
    bundles = [session(0, kernel="1"), session(1, kernel="2"), session(2, kernel="1")]
    record = measure(bundles)
    # the lone build's runs are halved
    assert (record.suites, record.circles, record.runs_a_side) == (1, 50, (2, 4))


def test_printed_statistics_are_pooled_as_their_samples_would_be() -> None:
    rng = np.random.default_rng(6)
    raw = [rng.normal(100 + i, 3, 40) for i in range(12)]
    specs = [Spec("a", [y.mean()], summary={"sd": y.std(ddof=1), "n": y.size}) for y in raw]
    record = measure(
        [bundle(spec, created=f"2026-11-{i + 1:02}T00:00:00+00:00") for i, spec in enumerate(specs)]
    )
    # five bundles per side; two are left over
    pooled = [np.concatenate(raw[:5]), np.concatenate(raw[5:10])]
    wanted = sum(stats.ttest_ind(x, y, equal_var=False).pvalue <= 0.05 for x, y in pairwise(pooled))
    assert of(record, "Welch's t over all samples").alarms == wanted
    assert of(record, "Welch's t over runs").comparisons == 1
    assert of(record, "Mann-Whitney over all samples").comparisons == 0


def test_runs_of_printed_statistics_are_pooled_to_the_moments_of_their_samples() -> None:
    """Two sessions of two runs each, 30 and 50 samples; the t test of what was printed is that of
    all samples.
    """
    rng = np.random.default_rng(7)
    for shift in (0.0, 1.0, 3.0):
        raw = [
            [rng.normal(at + run, 3, size) for run, size in enumerate((30, 50))]
            for at in (100, 100 + shift)
        ]
        record = measure(
            [printed(runs, f"2026-11-0{day}T00:00:00+00:00") for day, runs in enumerate(raw, 1)]
        )
        p = stats.ttest_ind(*(np.concatenate(runs) for runs in raw), equal_var=False).pvalue
        assert of(record, "Welch's t over all samples").alarms == (p <= 0.05)


def printed(runs: list[np.ndarray], created: str) -> Bundle:
    """Number, mean and standard deviation of each run's samples."""
    one = bundle(Spec("a", [y.mean() for y in runs]), created=created)
    result = zip(one.identity.summaries, runs, strict=True)
    summaries = tuple(replace(s, n=y.size, sd=float(y.std(ddof=1))) for s, y in result)
    return Bundle(replace(one.identity, summaries=summaries), one.samples)


def test_what_was_run_once_cannot_be_compared_with_itself() -> None:
    with pytest.raises(NothingMeasured, match="two runs of one build"):
        measure([session(1, runs=1)])


def test_printed_record(capsys: pytest.CaptureFixture[str]) -> None:
    record = measure([session(seed, circles=3) for seed in (1, 2)])
    report.show(record)
    assert (
        "3 circles, compared with themselves in 1 suite of 4 runs per side"
        in capsys.readouterr().out
    )
    result = kinds.plain(report.as_json(record))
    assert {row["method"] for row in result["methods"]} == {a.method for a in record.methods}
    assert all(
        0 <= row["interval"][0] <= row["rate"] <= row["interval"][1] <= 1
        for row in result["methods"]
    )
    assert report.markdown(record).count("\n|") == 1 + len(record.methods)
