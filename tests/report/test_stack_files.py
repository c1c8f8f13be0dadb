# SPDX-License-Identifier: BSD-2-Clause
"""Stacks as other programs read them: each file by its format's own rules, its sums those of the
turn.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from cyclometer.errors import UsageError
from cyclometer.explain.explanation import explain
from cyclometer.explain.profile import shares
from cyclometer.report import stack_files
from cyclometer.report.stack_files import Stacks
from tests.explain import machine
from tests.explain.test_profile import made

TURN = stack_files.of_turn(explain(machine.evidence([3, 3])))
SLOWER = stack_files.of_turn(explain(machine.evidence([90, 90])))
EVIL = "a;b\n(1) \x1b"
NAMED = Stacks("key", "cycles", 1, True, [((EVIL, "f"), 2), ((EVIL,), 1)])


def written(name: str, *sides: Stacks) -> str:
    found = stack_files.text(Path(name), sides)
    assert found is not None
    return found


def folded(text: str) -> dict[str, list[int]]:
    """Stack and counts of each line, as stackcollapse's readers split them."""
    lines = [line.split(" ") for line in text.splitlines()]
    return {" ".join(w for w in line if not w.isdigit()): [*map(int, filter(str.isdigit, line))]
            for line in lines}  # fmt: skip


def test_other_names_are_left_to_others() -> None:
    assert stack_files.text(Path("why.html"), [TURN]) is None


def test_folded_stacks_sum_to_the_turn_and_have_a_line_each() -> None:
    lines = folded(written("x.folded", TURN))
    assert sum(count for (count,) in lines.values()) == machine.LENGTH + 3
    assert lines["thing.poke;test;loop;entry;sys_poke;poke"] == [4]


def test_folded_stacks_of_two_sides_have_two_counts_of_equally_many_turns() -> None:
    other = Stacks(TURN.key, TURN.unit, 3, True, [(("test", "loop", "entry"), 30)])
    lines = folded(written("x.folded", TURN, other))
    assert lines["thing.poke;test;loop;entry;sys_poke;poke"] == [12, 0]
    assert lines["thing.poke;test;loop;entry"][1] == 30
    (changed,) = [
        counts
        for counts in folded(written("x.folded", TURN, SLOWER)).values()
        if counts[0] != counts[1]
    ]
    assert changed == [4, 91]


class Frame(msgspec.Struct, forbid_unknown_fields=True):
    name: str


class Shared(msgspec.Struct, forbid_unknown_fields=True):
    frames: list[Frame]


class Sampled(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    type: Literal["sampled"]
    name: str
    unit: Literal["none"]
    start_value: int
    end_value: int
    samples: list[list[int]]
    weights: list[int]


class Speedscope(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """`FileFormat.File` of speedscope's file-format-spec.ts, as far as it is written."""

    shared: Shared
    profiles: list[Sampled]
    name: str
    exporter: str
    active_profile_index: int
    schema: Literal["https://www.speedscope.app/file-format-schema.json"] = msgspec.field(
        name="$schema"
    )


def test_speedscope_finds_every_frame_and_every_weight() -> None:
    text = written("x.speedscope.json", TURN, SLOWER)
    result = msgspec.json.decode(text, type=Speedscope)
    assert [one.name[:6] for one in result.profiles] == ["before", "after:"]
    for one, side in zip(result.profiles, (TURN, SLOWER), strict=True):
        assert len(one.samples) == len(one.weights)
        assert sum(one.weights) == one.end_value == sum(count for _, count in side.spans)
        names = [[result.shared.frames[i].name for i in stack] for stack in one.samples]
        assert names == [list(stack) for stack, _ in side.spans]


def test_perfetto_nests_slices_in_time() -> None:
    result = json.loads(written("x.perfetto.json", TURN, SLOWER))
    events: list[dict[str, Any]] = result["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X"}
    assert result["displayTimeUnit"] == "ns"
    for process, side in enumerate((TURN, SLOWER), 1):
        slices = [e for e in events if e["ph"] == "X" and e["pid"] == process]
        assert max(e["ts"] + e["dur"] for e in slices) == pytest.approx(
            sum(count for _, count in side.spans) / 1000
        )
        stops: list[float] = []
        for e in slices:  # callers come first, and end last
            while stops and stops[-1] <= e["ts"] + 1e-9:
                stops.pop()
            assert not stops or e["ts"] + e["dur"] <= stops[-1] + 1e-9
            stops.append(e["ts"] + e["dur"])


def callgrind(text: str) -> tuple[Counter[str], Counter[tuple[str, str]], int]:
    """Cost of each function alone and of each call, and the total, by the grammar of the format."""
    header, _, body = text.partition("events: ")
    assert header.startswith("# callgrind format\nversion: 1\n")
    names: dict[str, str] = {}
    alone: Counter[str] = Counter()
    called: Counter[tuple[str, str]] = Counter()
    function, callee, total = "", "", 0
    for line in body.splitlines()[1:]:
        if match := re.fullmatch(r"(c?)fn=\((\d+)\) (.+)", line):
            name = names.setdefault(match[2], match[3])
            assert name == match[3]
            function, callee = (function, name) if match[1] else (name, "")
        elif match := re.fullmatch(r"0 (\d+)", line):
            if callee:
                called[function, callee] += int(match[1])
            else:
                alone[function] += int(match[1])
        elif match := re.fullmatch(r"totals: (\d+)", line):
            total = int(match[1])
        else:
            assert re.fullmatch(r"|fl=\(1\) \?\?\?|calls=[1-9]\d* 0|summary: \d+", line), line
    return alone, called, total


def test_callgrind_sums_to_the_turn_and_calls_cost_what_is_below() -> None:
    alone, called, total = callgrind(written("x.callgrind", TURN))
    assert sum(alone.values()) == total == machine.LENGTH + 3
    assert called["sys_poke", "poke"] == alone["poke"] == 4
    outermost = {stack[0] for stack, _ in TURN.spans}
    below = Counter({name: alone[name] for name in alone})
    for (caller, _), cost in called.items():
        below[caller] += cost
    assert sum(below[name] for name in outermost) == total


@pytest.mark.skipif(not shutil.which("callgrind_annotate"), reason="valgrind is not installed")
def test_callgrinds_own_reader_finds_the_total(tmp_path: Path) -> None:
    (tmp_path / "x.callgrind").write_text(written("x.callgrind", TURN))
    done = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", str(tmp_path / "x.callgrind")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(rf"^\s*{machine.LENGTH + 3} \(100.0%\)  PROGRAM TOTALS", done.stdout, re.M)
    assert "sys_poke" in done.stdout


def test_calls_are_counted_where_time_is_in_order() -> None:
    twice = Stacks("k", "cycles", 1, True, [(("a", "b"), 2), (("a",), 1), (("a", "b"), 2)])
    assert "calls=2 0\n0 4" in written("x.callgrind", twice)


def test_hostile_names_stay_one_frame() -> None:
    assert len(written("x.folded", NAMED).splitlines()) == 2
    assert "\x1b" not in written("x.folded", NAMED)
    assert written("x.folded", NAMED).splitlines()[0].count(";") == 2
    alone, _, total = callgrind(written("x.callgrind", NAMED))
    assert sum(alone.values()) == total == 3
    for name in ("x.speedscope.json", "x.perfetto.json"):
        assert json.loads(written(name, NAMED))


def test_samples_are_stacks_without_an_order() -> None:
    samples = stack_files.of_samples(shares(made()))
    assert "pipe.round_trip;write;entry;pipe_write 600\n" in written("x.folded", samples)
    assert "entry" in written("x.callgrind", samples)
    with pytest.raises(UsageError, match=r"samples have no order in time.*-o X\.folded"):
        written("x.perfetto.json", samples)
    with pytest.raises(UsageError, match="explain each side alone"):
        written("x.callgrind", TURN, SLOWER)
