# SPDX-License-Identifier: BSD-2-Clause
"""Everything about one circle, as a person reads it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from cyclometer.bundle.model import Bundle
from cyclometer.errors import UsageError
from cyclometer.estimate import kbench
from cyclometer.estimate.rows import estimates
from cyclometer.report import brief, detail
from tests.report.sample_bundles import ICOUNT, PIPE, TIMER, Maker, typical


def shown(capsys: pytest.CaptureFixture[str], bundle: Bundle, key: str) -> dict[str, str]:
    """What stands behind each label; lines of one label are joined."""
    detail.show(bundle, key, as_json=False)
    found: dict[str, str] = {}
    for line in capsys.readouterr().out.splitlines():
        label, words = line[2:16].strip(), line[16:].strip()
        if label:
            found[label] = "; ".join(filter(None, (found.get(label, ""), words)))
    return found


def test_the_figures_of_a_circle_stand_beside_their_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = shown(capsys, typical(), PIPE.key)
    assert re.fullmatch(r"40\d\d ± \d+ ticks = 16\d\d ns \(between runs\)", facts["latency"])
    assert re.fullmatch(
        r"\d+ ± \d+ ticks per test, 1.\d % of the 10 turns of the smallest; the line "
        r"holds",
        facts["fixed cost c"],
    )
    assert facts["first pass"].startswith("40000 ticks")
    assert facts["expected"] == "entries 4 per turn, switches 2 per turn"
    assert facts["contract"] == "valid; not counted here: entries"
    assert facts["tests"] == "339 count; excluded: 21 interrupt"


def test_a_circle_whose_source_is_known_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    bundle = typical()
    assert "source" not in shown(capsys, bundle, PIPE.key)
    rows = tuple(
        structs.replace(row, contract=structs.replace(row.contract, source="circles/pipe.c:9"))
        for row in bundle.identity.rows
    )
    known = replace(bundle, identity=structs.replace(bundle.identity, rows=rows))
    assert shown(capsys, known, PIPE.key)["source"] == "circles/pipe.c:9"


def test_what_happened_beside_its_visits_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    bundle = typical()
    assert "beside it" not in shown(capsys, bundle, PIPE.key)
    counts = {"elapsed_ns": 2_000_000, "foreign_switches": 1, "pressure_us": 100}
    visit = {"run": 1, "circle": PIPE.key, "method": "accumulated", "counts": counts}
    known = replace(bundle, identity=structs.replace(bundle.identity, plan={"order": [visit]}))
    assert shown(capsys, known, PIPE.key)["beside it"] == (
        "500 foreign switches a second, 5 % of the time with tasks waiting for a CPU"
    )


def test_a_circle_of_two_cpus_names_the_idle_states_and_the_clocks_offset(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wake = structs.replace(TIMER, params={"placement": "other_cpu"})
    bundle = Maker(tests=60).direct(wake, 9000).bundle()
    counts: dict[str, object] = {"elapsed_ns": 1, "clock_offset_ns": 36}
    visit = {"run": 1, "circle": wake.key, "method": "direct", "counts": counts}
    known = replace(bundle, identity=structs.replace(bundle.identity, plan={"order": [visit]}))
    facts = shown(capsys, known, wake.key)
    assert re.fullmatch(r"at most 90 ticks .*, 1.0 % of the latency; .*", facts["clock offset"])
    assert "idle states" not in facts
    counts["idle_states"] = {"POLL": 1, "C1": 3, "C6": 0}
    idle = shown(capsys, known, wake.key)["idle states"]
    assert idle == "of the peers' CPU: POLL 25.0 %, C1 75.0 %"
    counts["idle_states"] = {"POLL": 0, "C1": 0}
    assert "none of POLL, C1" in shown(capsys, known, wake.key)["idle states"]


def test_modes_of_tests_are_printed_between_two_cpus_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bundle = Maker(tests=100).accumulated(PIPE, 4000).bundle()
    slow = np.arange(len(bundle.samples)) % 4 == 0  # of the tests, as a contended lock may be
    values = np.where(slow, 2.0, 1.0) * bundle.samples.value
    bundle = replace(bundle, samples=replace(bundle.samples, value=values))
    assert "modes" not in shown(capsys, bundle, PIPE.key)
    elsewhere = structs.replace(PIPE, params={"placement": "other_cpu"})
    rows = tuple(structs.replace(row, contract=elsewhere) for row in bundle.identity.rows)
    known = replace(bundle, identity=structs.replace(bundle.identity, rows=rows))
    found = re.fullmatch(
        r"of tests: (\d+) \(7\d.\d %\), (\d+) \(2\d.\d %\)",
        shown(capsys, known, PIPE.key)["modes"],
    )
    assert found is not None
    assert float(found[2]) / float(found[1]) == pytest.approx(2, rel=0.02)
    assert [estimate.between_cpus for estimate in estimates(known)] == [True]
    assert brief.footnotes(estimates(known))[0].startswith("m: two modes")
    assert not any(line.startswith("m:") for line in brief.footnotes(estimates(bundle)))


def test_kbenchs_figures_are_those_of_the_first_run(capsys: pytest.CaptureFixture[str]) -> None:
    bundle = typical()
    facts = shown(capsys, bundle, PIPE.key)
    s = bundle.samples
    first = (s.row == 0) & (s.run == 1) & (s.tags == 0)
    lines = facts["KBench, run 1"].split("; N ")
    assert len(lines) == 3
    for line, size in zip(lines, (10, 20, 30), strict=True):
        group = kbench.estimate(s.value[first & (s.turns == size)], size)
        assert f"{size}: A {group.mean_A:.0f}, " in line
        assert f"S {group.tests};" in line
        assert line.endswith(f"±0.5 % takes {kbench.required_tests(group, 0.005)} tests")


def test_single_turns_have_quantiles_with_intervals_and_modes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bundle = Maker(tests=200).direct(TIMER, 900).bundle()
    facts = shown(capsys, bundle, TIMER.key)
    (e,) = estimates(bundle)
    assert e.tails is not None
    p50, p90, p99, p999 = e.tails.quantiles
    assert (
        f"p90 {p90.value:.0f} ({p90.interval.low:.0f} to {p90.interval.high:.0f})"
        in facts["quantiles"]
    )
    assert re.search(r"p50 \d+ \(.*p99 \d+ \(", facts["quantiles"])
    assert "p99.9" not in facts["quantiles"]  # 600 passes cannot bound it
    assert np.isinf(p999.interval.high)
    assert np.isfinite([p50.interval.high, p99.interval.high]).all()
    assert re.fullmatch(r"\d{3} \(100.0 %\)", facts["modes"])
    assert "KBench" not in "".join(facts)


@pytest.mark.parametrize(("bend", "words"), [(1.0, "more expensive"), (-1.0, "cheaper")])
def test_a_bent_line_says_which_way(
    capsys: pytest.CaptureFixture[str], bend: float, words: str
) -> None:
    bundle = Maker(runs=5).accumulated(PIPE, 4000).bundle()
    s = bundle.samples
    bent = replace(bundle, samples=replace(s, value=s.value + bend * 20 * s.turns**2))
    assert shown(capsys, bent, PIPE.key)["fixed cost c"].endswith(
        f"does not hold, turns grow {words} with their number"
    )


def plan_of(facts: dict[str, str]) -> tuple[int, int]:
    found = re.fullmatch(r"±0.5 % takes (\d+) runs of (\d+) tests?, [\d.]+ s", facts["plan"])
    assert found is not None, facts["plan"]
    return int(found[1]), int(found[2])


def test_what_a_plan_asks_to_be_sure_of_what_was_reached(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of the fixed cost, which runs share, is paid for as well as their spread. Five runs
    against five reach 1.58 times the half-width, sqrt F(0.8; 4, 4), in four of five cases.
    """
    bundle = Maker(runs=5).accumulated(PIPE, 4000).bundle()
    (e,) = estimates(bundle)
    assert e.latency is not None
    reached = e.latency.interval.half_width / e.latency.value
    # runs are dear: no plan has more of them than it needs
    monkeypatch.setattr(detail, "_RUN_S", 1.0)
    for share, affordable in ((1.6, True), (1.0, False)):
        monkeypatch.setattr(detail, "_WANTED", share * reached)
        runs, tests = plan_of(shown(capsys, bundle, PIPE.key))
        assert (runs * tests <= e.tests and runs <= 5) == affordable


def test_no_plan_where_runs_repeat_to_the_digit(capsys: pytest.CaptureFixture[str]) -> None:
    bundle = Maker(ICOUNT).accumulated(PIPE, 4000).bundle()
    assert "plan" not in shown(capsys, bundle, PIPE.key)


def test_a_test_lasts_from_one_arrival_to_the_next() -> None:
    bundle = typical()
    (e, *_) = estimates(bundle)
    assert detail._test_units(bundle, e) == 1000
    untold = replace(bundle, samples=replace(bundle.samples, at=np.full(len(bundle.samples), -1)))
    assert detail._test_units(untold, e) == np.median(bundle.samples.value[bundle.samples.row == 0])


def test_json_says_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    bundle = typical()
    for key in (PIPE.key, TIMER.key):
        detail.show(bundle, key, as_json=True)
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        e = next(e for e in estimates(bundle) if e.contract.key == key)
        assert [one["latency"] for one in row["run_estimates"]] == [r.latency.value for r in e.runs]
        assert row["contract"]["interval"]["kind"] == e.contract.interval.kind
        assert list(row["quantile_intervals"]) == list(row["quantiles"] or {})
        assert [mode["share"] for mode in row["modes"]] == ([1.0] if key == TIMER.key else [])
        assert (row["fixed_cost_interval"] is None) == (key == TIMER.key)


def test_an_unknown_circle_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="no circle 'pipe'"):
        detail.show(typical(), "pipe", as_json=False)
