# SPDX-License-Identifier: BSD-2-Clause
"""The table of a bundle, as `show` prints it, and the same as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from cyclometer.bundle.model import Bundle
from cyclometer.estimate.interval import Interval
from cyclometer.estimate.rows import Estimate, estimates
from cyclometer.report import brief as brief_table
from cyclometer.report import table
from cyclometer.report.documents import kinds
from tests.estimate.visited import Visits
from tests.report.sample_bundles import PIPE, SIGNAL, TIMER, TSC, Maker, typical


def shown(capsys: pytest.CaptureFixture[str], bundle: Bundle, wide: bool = True) -> list[str]:
    table.show(bundle, wide)
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
        brief_table.nanoseconds(e),
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
    result = json.loads(json.dumps(kinds.plain(table.as_json(bundle)), allow_nan=False))
    assert result["clock"] == {"name": "tsc", "unit": "ticks", "hz": 2.5e9, "exact": False}
    rows = {row["key"]: row for row in result["rows"]}
    assert list(rows) == [PIPE.key, TIMER.key, SIGNAL.key]
    low, high = rows[PIPE.key]["interval"]
    assert low < rows[PIPE.key]["estimate"] < high
    assert rows[PIPE.key]["fixed_cost"] == pytest.approx(500, rel=0.5)
    assert (rows[SIGNAL.key]["valid"], rows[SIGNAL.key]["estimate"]) == (False, None)
    assert rows[TIMER.key]["quantiles"].keys() == {"0.5", "0.9"}  # 120 passes bound no other
    assert [problem["where"] for problem in result["problems"]] == ["circle futex.round_trip"]


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


def brief(capsys: pytest.CaptureFixture[str], bundle: Bundle) -> list[str]:
    return shown(capsys, bundle, wide=False)


@pytest.mark.parametrize("page", [100, 80, 60])
def test_the_brief_table_fits_its_page_and_has_no_trailing_blanks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(page))
    _, head, *lines = brief(capsys, typical())
    rows = [head, *(line for line in lines if line.startswith(f" {PIPE.key[:10]}"))]
    assert all(len(line) <= page for line in rows)
    assert not any(line.endswith(" ") for line in [head, *lines])
    assert ("first pass" in head) == (page == 100)
    assert "latency [ticks]" in head
    assert " ns" in head


def test_the_brief_table_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    _, *lines = brief(capsys, typical())
    assert all(line.isascii() for line in lines if line.startswith(" "))


def test_a_brief_row_says_its_latency_and_its_error_in_percent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (e,) = (e for e in estimates(typical()) if e.contract.key == PIPE.key)
    assert e.latency is not None
    lines = brief(capsys, typical())
    (row,) = (line.split() for line in lines if line.startswith(f" {PIPE.key}"))
    assert row[1] == table.latency(e.latency)
    share = 100 * e.latency.interval.half_width / e.latency.value
    assert float(row[2]) == pytest.approx(share, rel=0.06)
    assert row[3:5] == [brief_table.nanoseconds(e), "40000"]
    (bad,) = (line.split() for line in lines if line.startswith(f" {SIGNAL.key} "))
    assert bad == [SIGNAL.key, "invalid"]


def test_what_is_unusual_is_a_letter_with_a_footnote(capsys: pytest.CaptureFixture[str]) -> None:
    one = Maker(runs=1).accumulated(PIPE, 4000).bundle()
    lines = brief(capsys, one)
    (row,) = (line for line in lines if line.startswith(f" {PIPE.key}"))
    assert row.endswith("1")
    assert "1: one run: nothing is known about the next one." in lines
    assert not any(line.startswith("1: ") for line in brief(capsys, typical()))


def rows_of(count: int, excluded: int, half_widths: Sequence[float] = ()) -> list[Estimate]:
    """As many rows, all but one with an interval of 1 %, the first `excluded` of them disturbed."""
    (e,) = (e for e in estimates(typical()) if e.contract.key == PIPE.key)
    assert e.latency is not None
    found = []
    for i in range(count):
        half = e.latency.value * (half_widths[i] if half_widths else 0.01)
        interval = Interval(e.latency.value - half, e.latency.value + half, 0.95)
        found.append(
            replace(
                e,
                contract=structs.replace(e.contract, key=f"circle.{i}"),
                latency=replace(e.latency, interval=interval),
                set_aside={"interrupt": e.tests} if i < excluded else {},
            )
        )
    return found


def test_a_letter_that_most_rows_would_have_is_said_once() -> None:
    often = rows_of(8, 5)
    assert not any(line.plain.endswith(" x") for line in brief_table.lines(often, 100))
    (note,) = (line for line in brief_table.footnotes(often) if line.startswith("x"))
    assert note.startswith("x on 5 of 8 rows: more than a quarter")
    seldom = rows_of(8, 4)
    assert sum(line.plain.endswith(" x") for line in brief_table.lines(seldom, 100)) == 4
    assert any(line.startswith("x: more than") for line in brief_table.footnotes(seldom))
    short = rows_of(2, 2)
    assert sum(line.plain.endswith(" x") for line in brief_table.lines(short, 100)) == 2


def test_an_interval_wider_than_its_latency_leaves_a_digit_of_it() -> None:
    (row, *_) = rows_of(1, 0, [8.2])
    assert row.latency is not None
    _, line = (text.plain.split() for text in brief_table.lines([row], 100))
    assert float(line[1]) == pytest.approx(row.latency.value, rel=0.4)
    assert line[2] == ">100"


def test_a_latency_whose_order_of_magnitude_is_not_known_is_a_bound(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two visits that differ by a factor of five, as of a lock that two CPUs contend for: with one
    degree of freedom the interval ends at thousands of times the latency.
    """
    visits = Visits()
    row = visits.row(PIPE.key, clock=TSC)
    visits.add(row, 1, 0, [10_000] * 3, 10).add(row, 1, 10**9, [50_000] * 3, 10)
    (e,) = estimates(visits.bundle())
    assert e.latency is not None
    assert e.latency.interval.high > 1000 * e.latency.value
    lines = brief(capsys, visits.bundle())
    (cells,) = (line.split() for line in lines if line.startswith(f" {PIPE.key}"))
    assert re.fullmatch(r"<\d0+", cells[1])
    assert float(cells[1][1:]) >= e.latency.interval.high
    assert cells[2] == ">100"
    assert float(cells[3][1:]) >= 0.4 * e.latency.interval.high  # ns at 2.5 GHz
    assert cells[4].startswith("u")
    assert any(line.startswith("u: the latency is not known to") for line in lines)
    wide = shown(capsys, visits.bundle())
    (cells,) = (line.split() for line in wide if line.startswith(f" {PIPE.key}"))
    assert [cells[1][0], cells[2][0]] == ["<", "<"]
    assert any(line.startswith("where a figure begins with <,") for line in wide)
    (said,) = table.as_json(visits.bundle()).rows
    assert (said.estimate, said.interval) == (
        e.latency.value,
        (e.latency.interval.low, e.latency.interval.high),
    )
    assert not any("begins with <" in line for line in shown(capsys, typical()))


def test_the_row_to_look_at_is_marked_or_wide_or_typical() -> None:
    wide = [0.01, 0.02, 0.09, 0.01, 0.01, 0.01]
    assert looked_at(rows_of(6, 2, wide)) == ("circle.1", "marked x")
    assert looked_at(rows_of(6, 5, wide)) == ("circle.2", "its interval is the widest")
    exact = rows_of(6, 0, [0.0] * 6)
    assert looked_at(exact) == ("circle.0", "")
    call = replace(exact[4], contract=structs.replace(exact[4].contract, key="a.round_trip.b"))
    assert looked_at([*exact, call]) == ("a.round_trip.b", "")
    floors = [replace(exact[0], contract=structs.replace(exact[0].contract, key="floor.empty"))]
    assert looked_at(floors) is None


def looked_at(found: list[Estimate]) -> tuple[str, str] | None:
    first = brief_table.worth_a_look(found)
    return first and (first[0].contract.key, first[1])


def test_floors_stand_last_and_units_in_cells_where_they_differ() -> None:
    found = estimates(typical())
    floor = replace(found[0], contract=structs.replace(found[0].contract, key="floor.alu"))
    assert [e.contract.key for e in brief_table.order([floor, *found])][-1] == "floor.alu"
    other = replace(found[1], clock=structs.replace(found[1].clock, unit="cycles"))
    head, *rows = (line.plain for line in brief_table.lines([found[0], other], 100))
    assert "latency  " in head
    assert [" ticks  " in rows[0], " cycles  " in rows[1]] == [True, True]
