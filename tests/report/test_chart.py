# SPDX-License-Identifier: BSD-2-Clause
"""Charts: what they draw stands where the samples are, and they draw nothing where there is
nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from cyclometer.bundle import store
from cyclometer.bundle.model import Contract, Span
from cyclometer.cli import cli
from cyclometer.errors import NotComparable, NothingMeasured, UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.report.chart import difference, ecdf, line, plot, registry, samples, sequence
from cyclometer.report.circle import circles
from cyclometer.report.export import EXPORTERS
from cyclometer.report.export import request as requests
from tests.report import sample_bundles as bundles


def of(bundle, key, label=""):
    return next(
        c for c in circles(bundle, estimates(bundle), label) if c.estimate.contract.key == key
    )


@pytest.fixture(scope="module")
def pipe():
    return of(bundles.typical(), bundles.PIPE.key, "before")


@pytest.fixture(scope="module")
def slower():
    return of(bundles.typical(1.25), bundles.PIPE.key, "after")


def paths(markup, cls):
    return re.findall(rf'<path class="{cls}" d="([^"]*)"', markup)


def spots(path):
    """The absolute points of a path of one move and steps, in grains."""
    start, _, steps = path.removeprefix("M").partition("l")
    first = np.array([int(v) for v in start.split()])
    moves = np.array([int(v) for v in re.findall(r"-?\d+", steps)]).reshape(-1, 2)
    return np.vstack([first, first + np.cumsum(moves, axis=0)])


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e9), st.integers(2, 9))
def test_linear_ticks_are_inside_and_told_apart(low, width, wanted):
    scale = plot.Scale(low, low + width, 0, 100)
    ticks = scale.ticks(wanted)
    assert all(low - width * 1e-6 <= t <= low + width * (1 + 1e-6) for t in ticks)
    assert len(ticks) <= 2 * wanted + 2
    assert len(set(plot.spelled(ticks))) == len(ticks)


@given(st.floats(1e-3, 1e6), st.floats(1.5, 1e6), st.integers(2, 9))
def test_logarithmic_scale_keeps_ratios(low, factor, wanted):
    scale = plot.Scale(low, low * factor, 0, 100, log=True)
    assert scale(low * factor**0.5) == pytest.approx(50)
    assert all(low * 0.999 <= t <= low * factor * 1.001 for t in scale.ticks(wanted))


def test_axis_values_have_the_digits_that_tell_them_apart():
    assert plot.spelled([0.0, 0.25, 0.5]) == ["0.00", "0.25", "0.50"]
    assert plot.spelled([-20.0, 0.0, 1000.0]) == ["\u221220", "0", "1\u2009000"]
    assert plot.spelled([0.0, 250_000.0, 1_000_000.0]) == ["0", "250k", "1\u2009000k"]


def test_names_of_ticks_do_not_touch_each_other():
    for top in (33_024 * 1.06, 9_999, 150_000, 3e9):
        body = plot.frame((0, top), (0, 1), "turns of a test, N", "A").body()
        found = re.findall(r'<text x="([\d.]+)"( class="end")?>([^<]*)</text>', body)
        ends = [float(x) + (0 if end else plot._DIGIT_PX / 2 * len(name)) for x, end, name in found]
        starts = [
            e - plot._DIGIT_PX * len(name) for e, (_, _, name) in zip(ends, found, strict=True)
        ]
        assert len(found) > 2
        assert all(a < b for a, b in zip(ends, starts[1:], strict=False))


def test_samples_put_every_test_into_a_cell(pipe):
    cells = np.zeros((samples.ROWS, samples.COLUMNS), bool)
    drawn = samples.draw([pipe]).body
    for group in re.findall(r'<path class="d\d" d="([^"]*)"', drawn.split('class="aside"')[0]):
        for row in re.findall(r"M(\d+) (\d+)\.5((?:h\d+(?:m\d+ 0)?)+)", group):
            column = int(row[0])
            for width, gap in re.findall(r"h(\d+)(?:m(\d+) 0)?", row[2]):
                cells[int(row[1]), column : column + int(width)] = True
                column += int(width) + int(gap or 0)
    low, high = plot.robust_range(pipe.tests.latency[pipe.tests.good])
    place = np.arange(len(pipe.tests)) * samples.COLUMNS // len(pipe.tests)
    height = (
        ((high - pipe.tests.latency) / (high - low) * samples.ROWS)
        .clip(0, samples.ROWS - 1)
        .astype(int)
    )
    expected = np.zeros_like(cells)
    expected[height[pipe.tests.good], place[pipe.tests.good]] = True
    assert np.array_equal(cells, expected)


def test_samples_show_what_is_set_aside_apart(pipe):
    chart = samples.draw([pipe])
    assert 'class="aside"' in chart.body
    assert chart.sentence.endswith("21 tests set aside")
    calm = replace(pipe, tests=pipe.tests.of(pipe.tests.good))
    assert "d1" not in samples.draw([calm]).body.split('class="aside"')[1].split("</g>")[0]


def test_samples_of_two_sides_share_a_scale(pipe, slower):
    result = [
        re.search(r'data-y="([^"]*)"', samples.draw([pipe, slower], i).body)[1] for i in (0, 1)
    ]
    assert result[0] == result[1]
    assert result[0] != re.search(r'data-y="([^"]*)"', samples.draw([pipe]).body)[1]


def test_ecdf_is_a_step_function_that_holds_the_tail(pipe):
    curve = spots(paths(ecdf.draw([pipe]).body, "curve")[0]) * plot.GRAIN
    level = np.diff(curve[:, 0]) == 0, np.diff(curve[:, 1]) == 0
    assert (level[0] | level[1]).all()  # every stroke is level or upright
    _, high = map(float, re.search(r'data-x="(\S+) ([^" ]+)', ecdf.draw([pipe]).body).groups())
    assert high >= pipe.tests.latency[pipe.tests.good].max()


def test_ecdf_rises_from_zero_to_one_through_the_median(pipe):
    curve = spots(paths(ecdf.draw([pipe]).body, "curve")[0]) * plot.GRAIN
    bottom, top = plot.HEIGHT - plot.BOTTOM, plot.TOP
    assert (curve[0, 1], curve[-1, 1]) == (bottom, top)
    assert (np.diff(curve, axis=0) * [1, -1] >= 0).all()
    low, high = map(float, re.search(r'data-x="(\S+) ([^" ]+)', ecdf.draw([pipe]).body).groups())
    middle = np.median(pipe.tests.latency[pipe.tests.good])
    at = np.interp((bottom + top) / 2, curve[::-1, 1], curve[::-1, 0])
    share = (at - plot.LEFT) / (plot.WIDTH - plot.RIGHT - plot.LEFT)
    assert low + share * (high - low) == pytest.approx(middle, rel=2e-3)


def test_difference_finds_a_shift_at_every_quantile(pipe, slower):
    chart = difference.draw([pipe, slower])
    assert "median +25" in chart.sentence
    curve = spots(paths(chart.body, "curve")[0])
    assert np.ptp(curve[:, 1]) <= 6  # a pure shift is a level line
    assert len(paths(chart.body, "band")) == 1


def test_difference_of_single_runs_leaves_no_room_for_an_interval_that_nobody_knows(pipe, slower):
    chart = difference.draw(
        [replace(c, tests=c.tests.of(c.tests.run == 1)) for c in (pipe, slower)]
    )
    labels = [
        int(label) for label in re.findall(r">([\u2212\d]+)%<", chart.body.replace("\u2212", "-"))
    ]
    assert max(labels) <= 30
    assert min(labels) >= 0
    assert not paths(chart.body, "band")


def test_difference_wants_two_sides_with_tests(pipe):
    assert difference.draw([pipe]) is None
    few = replace(pipe, tests=pipe.tests.of(np.arange(len(pipe.tests)) < 10))
    assert difference.draw([pipe, few]) is None


def test_line_goes_through_what_it_was_fitted_to(pipe):
    chart = line.draw([pipe])
    assert re.match(r"before: A = \S+ \+ \S+ N ticks; the line holds", chart.sentence)
    upper = spots(paths(chart.body, "curve")[0]) * plot.GRAIN
    result = re.findall(r"M(\d+) (\d+)h0", paths(chart.body, "dots")[0])
    dots = np.array(result, float) * plot.GRAIN
    assert len(dots) == 9
    on_line = np.interp(dots[:, 0], upper[:, 0], upper[:, 1])
    assert np.abs(on_line - dots[:, 1]).max() <= 1


def test_line_needs_two_sizes(pipe):
    assert line.draw([replace(pipe, estimate=replace(pipe.estimate, fixed_cost=None))]) is None


def test_cold_starts_at_the_first_pass(pipe):
    chart = registry.CHARTS["cold"]([pipe])
    assert (
        chart.sentence
        == "Cold against hot: before first pass 40000, pass 10 4360 ticks, medians over 3"
    )
    assert (
        registry.CHARTS["cold"]([replace(pipe, passes=pipe.passes.of(pipe.passes.run < 0))]) is None
    )


def drawn(*events, start="", stop="", kind="round_trip"):
    contract = Contract("a.b", sequence=events, interval=Span(kind, start, stop))
    return sequence.draw(
        [replace(of(bundles.typical(), bundles.PIPE.key), estimate=_estimate(contract))]
    )


def _estimate(contract):
    return replace(estimates(bundles.typical())[0], contract=contract)


def test_sequence_has_a_lane_a_participant_and_an_arrow_a_hand_over():
    chart = drawn("low: Signal", "high: Wait returns", "high: Wait blocks", "low: Signal returns")
    assert re.findall(r'<text class="actor"[^>]*>(\w+)', chart.body) == ["low", "high"]
    assert chart.body.count('class="event"') == 4
    assert chart.body.count('class="over"') == 2
    assert chart.body.count('class="busy"') == 1


@pytest.mark.parametrize(
    ("start", "stop", "top", "bottom"),
    [
        ("low: before Signal", "high: after Wait", 0, 1),
        ("low: before Signal", "low: after Signal", 0, 3),
        ("high: before Wait blocks", "somebody: later", 2, 3),
    ],
)
def test_sequence_marks_what_is_timed(start, stop, top, bottom):
    events = ("low: Signal", "high: Wait returns", "high: Wait blocks", "low: Signal returns")
    chart = drawn(*events, start=start, stop=stop)
    y = [float(v) for v in re.findall(r'<circle class="event" cx="[^"]*" cy="([^"]*)"', chart.body)]
    mark = re.search(r'class="timed" d="M18 ([\d.]+)H12V([\d.]+)H18"', chart.body)
    assert (float(mark[1]), float(mark[2])) == (y[top] - 9, y[bottom] + 9)


def test_sequence_of_an_unknown_interval_marks_nothing():
    assert 'class="timed"' not in drawn("a: x", kind="unknown").body
    assert drawn() is None


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("name", registry.CHARTS)
def test_every_chart_stands_alone_as_xml(name, beside):
    evil = bundles.renamed(bundles.typical(), ["<script>&\x00"] * 2 + ["b.b", "c.c"])
    request = replace(requests.make(evil, ("<script>&\x00",)), chart=name)
    if beside or name == "difference":
        request = replace(request, beside=request)
    root = ElementTree.fromstring(EXPORTERS.load("svg")(request))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [e for e in root.iter() if e.tag.endswith("script")]


def test_png_is_a_picture_of_the_chart():
    pytest.importorskip("resvg_py")
    request = replace(requests.make(bundles.typical(), (bundles.PIPE.key,)), chart="ecdf")
    picture = EXPORTERS.load("png")(request)
    assert picture.startswith(b"\x89PNG")
    size = (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big"))
    assert size == (2 * plot.WIDTH, 2 * (plot.HEIGHT + 26))


def test_a_chart_of_two_bundles_from_the_command_line(tmp_path: Path):
    for name, scale in (("before", 1), ("after", 1.25)):
        store.write(bundles.typical(scale=scale), tmp_path / name, {})
    words = ["export", str(tmp_path / "before"), "--format", "svg", "--circle", bundles.PIPE.key]
    both = [*words, "--chart", "difference", "--beside", str(tmp_path / "after")]
    drawn = CliRunner().invoke(cli, both, catch_exceptions=False)
    assert drawn.exit_code == 0
    assert "+25" in drawn.output
    with pytest.raises(NothingMeasured, match="--beside names a second bundle"):
        CliRunner().invoke(cli, [*words, "--chart", "difference"], catch_exceptions=False)


def test_two_clocks_are_not_drawn_in_one_chart():
    one = requests.make(bundles.typical(), (bundles.PIPE.key,))
    rows = [
        changed(row, clock=changed(row.clock, unit="cycles")) for row in one.bundle.identity.rows
    ]
    other = replace(one.bundle, identity=changed(one.bundle.identity, rows=tuple(rows)))
    with pytest.raises(NotComparable, match="in ticks of tsc here and in cycles of tsc"):
        EXPORTERS.load("svg")(replace(one, beside=requests.make(other, (bundles.PIPE.key,))))


def test_charts_that_cannot_be_drawn_are_refused():
    request = requests.make(bundles.typical(), (bundles.TIMER.key,))
    with pytest.raises(NothingMeasured, match="chart 'line' of timer"):
        EXPORTERS.load("svg")(replace(request, chart="line"))
    with pytest.raises(UsageError, match="there are samples, ecdf"):
        EXPORTERS.load("svg")(replace(request, chart="pie"))
