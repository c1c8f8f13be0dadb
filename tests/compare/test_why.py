# SPDX-License-Identifier: BSD-2-Clause
"""`compare --why`: what the processor counted on both sides, and the code that a turn touches, in
one sentence per circle.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.compare import why
from cyclometer.explain import evidence as evidences
from cyclometer.explain.evidence import Evidence
from cyclometer.explain.layout import FootprintChanges
from cyclometer.report import why as report
from tests.compare.bundles import Spec, bundle
from tests.estimate.test_hardware import KEY as COUNTED
from tests.estimate.test_hardware import proven
from tests.explain import machine
from tests.explain.test_footprint import moved

KEY = "thing.poke"
DATA = Path(__file__).parents[1] / "data"


def reasons(*found: why.Why) -> report.Reasons:
    return report.Reasons([*found], FootprintChanges([], [COUNTED], []))


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (
            {"instructions_kernel": 1000, "cycles": 1500, "itlb_misses": 4},
            "the same instructions, IPC 1.10 to 0.73, +3 itlb misses",
        ),
        (
            {"instructions_kernel": 1500, "cycles": 1600, "itlb_misses": 1},
            "+500 instructions (+0 user, +500 kernel), IPC 1.10 to 1.00",
        ),
    ],
)
def test_why_tells_more_instructions_from_slower_ones(after: dict[str, float], said: str) -> None:
    same = {"instructions_user": 100.0}
    before = proven(**same, instructions_kernel=1000, cycles=1000, itlb_misses=1)
    (found,) = why.why(before, proven(**same, **after))
    assert found.sentence == said
    assert said in report.markdown(reasons(found))
    assert report.as_json(reasons(found)).circles[0].after["cycles"] == after["cycles"]


def test_without_counters_why_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    report.show(reasons(*why.why(proven(), proven())))
    assert "Neither side has counters" in capsys.readouterr().out


def stored(path: Path, trace: bytes | None) -> Path:
    """A bundle of one circle, with a trace of its turn if there is one."""
    files = {} if trace is None else {evidences.name(KEY, "steady"): trace}
    store.write(bundle(Spec(KEY, [1.0])), path, files)
    return path


def asked(*words: object) -> Result:
    found = CliRunner().invoke(cli, ["compare", "--why", *map(str, words)], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found


def poked() -> Evidence:
    return machine.evidence([3, 3])


def poked_elsewhere() -> Evidence:
    return moved(poked())


def poked_with_one_more() -> Evidence:
    """Turns of one instruction more, in a function on a page of its own."""
    turn = machine.turn

    def longer(made: machine.Machine, extra: int = 0) -> None:
        made.run("more", at=0)
        turn(made, extra)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "turn", longer)
        return machine.evidence([3, 3], Fraction(machine.LENGTH + 4))


@pytest.mark.parametrize(
    ("after", "said", "only_layout"),
    [
        (poked, "21 instructions in 7 lines of 64 bytes, 7 fetches of 16 and 7 pages", False),
        (poked_elsewhere, "7 lines of 64 bytes, 7 fetches of 16 and 7 to 6", True),
        (poked_with_one_more, "21 to 22 instructions in 7 to 8 lines of 64 bytes", False),
    ],
)
def test_as_many_instructions_from_other_places_are_called_layout(
    tmp_path: Path, after: Callable[[], Evidence], said: str, only_layout: bool
) -> None:
    sides = [
        stored(tmp_path / name, evidences.pack(one()))
        for name, one in (("before", poked), ("after", after))
    ]
    for form in ("table", "markdown"):
        text = asked(*sides, "--format", form).stdout
        assert said in text
        assert (f"layout may explain a difference in time: `{KEY}`." in text) == only_layout
        assert "Neither side" not in text
        assert "--trace" not in text
    document = json.loads(asked(*sides, "--json").stdout)
    (changed,) = document["footprints"]
    assert (changed["circle"], changed["only_layout"]) == (KEY, only_layout)
    assert (document["circles"], document["untraced"]) == ([], [])


@pytest.mark.parametrize("traced", [False, True])
def test_bundles_without_traces_name_the_command_once(tmp_path: Path, traced: bool) -> None:
    trace = evidences.pack(poked())
    sides = [stored(tmp_path / "a", trace if traced else None), stored(tmp_path / "b", None)]
    assert asked(*sides).stdout.count("`cyclometer run --trace`") == 1
    assert json.loads(asked(*sides, "--json").stdout)["untraced"] == [KEY]


def test_a_trace_that_cannot_be_read_is_named_and_costs_no_counter(tmp_path: Path) -> None:
    sides = [stored(tmp_path / "a", evidences.pack(poked())), stored(tmp_path / "b", b"no gzip")]
    found = asked(*sides)
    assert f"no footprint of {KEY}: {tmp_path / 'b'}" in found.stderr
    assert "Neither side has counters" in found.stdout


def test_the_footprint_is_that_of_explain(tmp_path: Path) -> None:
    trace = evidences.pack(poked())
    sides = [stored(tmp_path / "a", trace), stored(tmp_path / "b", trace)]
    (changed,) = json.loads(asked(*sides, "--json").stdout)["footprints"]
    shown = CliRunner().invoke(cli, ["explain", str(sides[0]), KEY, "--json"]).stdout
    assert changed["before"] == json.loads(shown)["steady"]["footprint"]


def test_each_of_two_foreign_files_is_a_side() -> None:
    found = asked(DATA / "notes.txt", DATA / "TX1_MCS_64.json")
    assert "Neither side has counters" in found.stdout
