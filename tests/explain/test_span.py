# SPDX-License-Identifier: BSD-2-Clause
"""Windows between two addresses as explanations, and by the path that each took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cyclometer.errors import MeasurementFailed
from cyclometer.explain import span
from cyclometer.record.instructions import RISCV64
from cyclometer.record.span import Spanned, Wanted
from cyclometer.record.trace import INTERRUPTED, SUPERVISOR
from cyclometer.report import span as report
from tests.explain import machine
from tests.explain.machine import CALL, CYCLES, PLAIN, RETURN, Machine

WANTED = Wanted("work", skip=3)


def spanned(*windows: tuple[bool, int]) -> Spanned:
    """A window for each pair: whether it also runs `copy`, and the cycles that it waits."""
    made = Machine()
    ends = []
    for copies, waits in windows:
        made.run("work", CALL, SUPERVISOR, at=0, dcache=waits)
        if copies:
            made.run("copy", PLAIN, SUPERVISOR, at=0)
            made.run("copy", RETURN, SUPERVISOR, at=4)
        made.run("work", RETURN, SUPERVISOR, at=4)
        ends.append(len(made.rows))
    steps = made.steps()
    parts = [steps[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    return Spanned(parts, "said that it was done", CYCLES, made.both(), {"image": "a"})


def test_windows_are_counted_by_path_the_most_frequent_first() -> None:
    common, other = span.paths(spanned((True, 0), (False, 9), (False, 2)), WANTED)
    assert (common.first, common.lengths, len(common.steps)) == (4, [11, 4], 2)
    assert (other.first, other.lengths, len(other.steps)) == (3, [4], 4)


def test_what_a_path_does_beyond_the_common_one() -> None:
    found = spanned((False, 0), (False, 0), (True, 0))
    common, other = span.paths(found, WANTED)
    assert span.extra(common, other, found.places) == [("copy", 2)]
    assert span.parts_at(common, other, found.places) == "work (work.c:0)"


def test_an_interrupt_marks_its_path() -> None:
    found = spanned((True, 0))
    found.windows[0]["flags"][1] = INTERRUPTED
    assert span.paths(found, WANTED)[0].interrupted


def test_a_window_is_explained_without_hints() -> None:
    found = span.explain_first("made-up", spanned((True, 5)), WANTED)
    assert found.turn.length == 9
    assert {part.name: part.total for part in found.functions} == {"work": 7, "copy": 2}
    assert sum(part.total for part in found.stacks) == 9
    assert ("work", "copy") in {tuple(part.name[-2:]) for part in found.stacks}
    assert not any(insn == RISCV64.opens for insn in found.turn.steps["insn"].tolist())


def test_no_window_is_one_sentence() -> None:
    with pytest.raises(MeasurementFailed, match="from work to its return after the first 3: the"):
        span.paths(replace(spanned((True, 0)), windows=[]), WANTED)


def test_json_has_every_length(capsys: pytest.CaptureFixture[str]) -> None:
    found = spanned((False, 0), (True, 7))
    paths = span.paths(found, WANTED)
    result = report.as_json("made-up", found, WANTED, paths)
    assert [path.lengths for path in result.paths] == [[2], [11]]
    assert [path.functions for path in result.paths] == [{}, {"copy": 2}]
    report.show(result)
    assert "2 windows from work to its return, by 2 paths" in capsys.readouterr().out
    assert machine.CYCLES.unit == result.unit
