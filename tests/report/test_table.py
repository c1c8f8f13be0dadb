# SPDX-License-Identifier: BSD-2-Clause
"""The table of a bundle, as `show` prints it, and the same as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from msgspec import structs

from cyclometer.bundle.model import Bundle
from cyclometer.estimate.rows import estimates
from cyclometer.report import table
from tests.report.sample_bundles import PIPE, SIGNAL, TIMER, Maker, typical


def shown(capsys: pytest.CaptureFixture[str], bundle: Bundle) -> list[str]:
    table.show(bundle)
    return capsys.readouterr().out.splitlines()


def test_a_line_a_circle_with_all_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    title, *lines = shown(capsys, typical())
    assert title.startswith("Test bench")
    assert title.endswith("clock tsc (ticks at 2500.0 MHz), 3 runs")
    (e,) = (e for e in estimates(typical()) if e.contract.key == PIPE.key)
    assert e.latency is not None
    (line,) = (line for line in lines if line.startswith(f" {PIPE.key}"))
    columns = [column.strip() for column in line.split("  ") if column.strip()]
    assert columns[:2] == [PIPE.key, table.with_interval(e.latency)]
    assert columns[2:] == [
        table.nanoseconds(e),
        columns[3],
        table.fixed_cost(e),
        "40000",
        f"{100 * e.latency.spread:.2f} %",
        str(e.tests),
        "21 interrupt",
        e.steadiness,
    ]


def test_what_is_not_valid_stands_in_the_table_and_below_it_with_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = shown(capsys, typical())
    assert [line.split() for line in lines if line.startswith(f" {SIGNAL.key}")] == [
        [SIGNAL.key, "invalid"]
    ]
    (reason,) = (line for line in lines if line.startswith(f"  {SIGNAL.key}: contract broken"))
    assert "switches: expected 20 in 10 turns, seen 21" in reason
    assert "failed: circle futex.round_trip: no answer within 10 s" in lines
    assert "not counted on this machine, so not proven: entries." in lines


@pytest.mark.parametrize("policy", ["unprivileged", "fifo"])
def test_a_run_without_priorities_says_so_in_its_title(
    capsys: pytest.CaptureFixture[str], policy: str
) -> None:
    title, *_ = shown(
        capsys, Maker(configuration={"policy": policy}).accumulated(PIPE, 4000).bundle()
    )
    assert title.endswith(", unprivileged") == (policy == "unprivileged")


def test_json_has_every_row_and_no_number_that_does_not_exist() -> None:
    bundle = typical()
    told = json.loads(json.dumps(table.as_json(bundle), allow_nan=False))
    assert told["clock"] == {"name": "tsc", "unit": "ticks", "hz": 2.5e9, "exact": False}
    rows = {row["key"]: row for row in told["rows"]}
    assert list(rows) == [PIPE.key, TIMER.key, SIGNAL.key]
    low, high = rows[PIPE.key]["interval"]
    assert low < rows[PIPE.key]["estimate"] < high
    assert rows[PIPE.key]["fixed_cost"] == pytest.approx(500, rel=0.5)
    assert (rows[SIGNAL.key]["valid"], rows[SIGNAL.key]["estimate"]) == (False, None)
    assert rows[TIMER.key]["quantiles"].keys() == {"0.5", "0.9"}  # 120 passes bound no other
    assert [problem["where"] for problem in told["problems"]] == ["circle futex.round_trip"]


@pytest.mark.parametrize(
    ("exact", "why"), [(True, "their latency depends on what ran before"), (False, "regime")]
)
def test_an_overall_latency_far_from_the_base_one_is_explained_by_what_the_clock_can_see(
    exact: bool, why: str
) -> None:
    (e, *_) = estimates(typical())
    assert e.overall is not None
    apart = replace(
        e,
        clock=structs.replace(e.clock, exact=exact),
        overall=replace(e.overall, value=2 * e.overall.value),
    )
    (note,) = (
        line for line in table.footnotes(typical(), [apart]) if line.startswith("base and overall")
    )
    assert "more than 5 % in 1 circle:" in note
    assert why in note
