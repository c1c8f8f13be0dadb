# SPDX-License-Identifier: BSD-2-Clause
"""Whatever happens to the rows of a side, every one of them is in the output."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cyclometer.bundle.model import Bundle, Problem
from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import compare
from cyclometer.ingest import ingest
from cyclometer.report import comparison as report
from cyclometer.report.documents.kinds import plain
from tests.compare.bundles import Spec, bundle, measured

KEYS = [f"object{i}.operation" for i in range(8)]
FATES = ("kept", "dropped", "renamed", "failed", "broken", "unmeasured", "nonsense")


@dataclass(frozen=True)
class Expected:
    """Verdicts that a row's fate may lead to, under its old and its new name."""

    old: tuple[str, ...]
    new: tuple[str, ...] = ()


EXPECTED = {
    "kept": Expected(("equivalent",)),
    "dropped": Expected(("removed",)),
    "renamed": Expected(("removed",), ("added",)),
    "failed": Expected(("failed",)),
    "broken": Expected(("invalid",)),
    "unmeasured": Expected(("failed",)),
    "nonsense": Expected(("failed", "not comparable")),
}


def mangled(fates: dict[str, str]) -> list[Bundle]:
    """The side after: measured circles that were kept or broke their contract, and printed rows of
    every other fate.
    """
    runs = {
        key: [1000.0, 1000.4, 999.8] for key, fate in fates.items() if fate in ("kept", "broken")
    }
    found = (
        [measured(runs, broken=[k for k, fate in fates.items() if fate == "broken"])]
        if runs
        else []
    )
    printed = [Spec(f"{key}.new", [5.0]) for key, fate in fates.items() if fate == "renamed"]
    printed += [
        Spec(k, [5.0], summary={"status": "failed"})
        for k, fate in fates.items()
        if fate == "failed"
    ]
    printed += [Spec(k, [float("nan")]) for k, fate in fates.items() if fate == "nonsense"]
    lost = [
        Problem("it hung", f"circle {key}", "failed")
        for key, fate in fates.items()
        if fate == "unmeasured"
    ]
    return [*found, bundle(*printed, problems=lost)]


@given(st.fixed_dictionaries(dict.fromkeys(KEYS, st.sampled_from(FATES))))
@settings(max_examples=60)
def test_every_row_of_a_mangled_side_is_in_the_output(fates: dict[str, str]) -> None:
    before = side([measured({key: [1000.0, 1000.4, 999.8] for key in KEYS})])
    found = compare(before, side(mangled(fates)))
    result = json.loads(json.dumps(plain(report.as_json(found)), allow_nan=False))
    verdicts = {row["key"]: row["verdict"] for row in result["rows"]}
    assert len(verdicts) == len(result["rows"])
    for key, fate in fates.items():
        assert verdicts.pop(key) in EXPECTED[fate].old
        if EXPECTED[fate].new:
            assert verdicts.pop(f"{key}.new") in EXPECTED[fate].new
    assert not verdicts
    assert all(row["reason"] for row in result["rows"])
    assert sum(result["summary"]["counts"].values()) == len(result["rows"])


@given(st.permutations(range(6)), st.permutations(range(6)), st.integers(0, 6), st.integers(0, 6))
@settings(max_examples=60)
def test_every_circle_of_either_side_is_in_exactly_one_row(
    left: list[int], right: list[int], some: int, others: int
) -> None:
    """Also among circles of one key that only configuration or version tells apart, on one side or
    on both.
    """
    kinds = [
        {},
        {"kernel": "1a"},
        {"kernel": "2b"},
        {"mcs": "on"},
        {"mcs": "off"},
        {"mcs": "on", "kernel": "1a"},
    ]
    chosen = ([kinds[i] for i in left[:some]], [kinds[i] for i in right[:others]])
    sides = [
        side([bundle(*(Spec("a", [1.0], configuration=kind) for kind in of_side))])
        for of_side in chosen
    ]
    found = compare(sides[0], sides[1]).findings
    for which, one in enumerate(sides):
        result = Counter(
            id(c) for f in found for c in [(f.pair.before, f.pair.after)[which]] if c is not None
        )
        assert result == Counter(id(circle) for circle in one.circles)


LOG = """START - Time Measurement
Timing results: Clock frequency: 100 MHz
{lines}PROJECT EXECUTION SUCCESSFUL
"""


def zephyr_line(key: str, cycles: str = "500") -> str:
    return f"{key:50} - some operation :{cycles:>8} cycles , {5000:>8} ns :\n"


LINE_FATES = {
    "kept": zephyr_line,
    "dropped": lambda _: "",
    "renamed": lambda key: zephyr_line(f"{key}.new"),
    "failed": lambda key: f"{key:50} - some operation : FAILED\n",
    "garbled": lambda key: zephyr_line(key, "5#0"),
}


@given(fates=st.fixed_dictionaries(dict.fromkeys(KEYS, st.sampled_from(sorted(LINE_FATES)))))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_line_of_a_mangled_log_is_in_the_output(
    fates: dict[str, str], tmp_path: Path
) -> None:
    logs = {
        "before": [zephyr_line(key) for key in KEYS],
        "after": [
            zephyr_line("always.there"),
            *(LINE_FATES[fate](key) for key, fate in fates.items()),
        ],
    }
    for name, lines in logs.items():
        (tmp_path / name).write_text(LOG.format(lines="".join(lines)))
    found = compare(*(side([ingest([tmp_path / name])[0]]) for name in logs))
    result = plain(report.as_json(found))
    verdicts = {row["key"]: row["verdict"] for row in result["rows"]}
    expected = dict.fromkeys(LINE_FATES, "removed") | {"kept": "undecided", "failed": "failed"}
    for key, fate in fates.items():
        assert verdicts.pop(key) == expected[fate]
        if fate == "renamed":
            assert verdicts.pop(f"{key}.new") == "added"
    assert verdicts == {"always.there": "added"}
    unread = [p["what"] for p in result["summary"]["problems"]["after"] if p["kind"] == "unread"]
    assert [fate for fate in fates.values() if fate == "garbled"] == ["garbled"] * len(unread)


def test_an_output_is_plain_data() -> None:
    """Whatever a comparison holds can be encoded without infinities, which JSON does not know."""
    found = compare(side([measured({"a": [1.0]})]), side([measured({"a": [2.0], "b": [1.0]})]))
    assert msgspec.json.decode(json.dumps(plain(report.as_json(found)), allow_nan=False))


@pytest.mark.parametrize(
    ("worst", "verdict"), [(35, "equivalent"), (349, "equivalent"), (3500, "undecided")]
)
def test_a_maximum_that_rose_far_is_not_equivalent(
    tmp_path: Path, worst: int, verdict: str
) -> None:
    """cyclictest of three runs per side, whose averages are all alike."""
    line = "T: 0 ( 1235) P:80 I:1000 C: 100000 Min:      2 Act:    3 Avg: 1000 Max: {:>7}\n"
    sides = []
    for name, most in (("before", 35), ("after", worst)):
        logs = [tmp_path / f"{name}-{n}.txt" for n in range(3)]
        for log in logs:
            log.write_text(line.format(most))
        sides.append(side([ingest(logs)[0]]))
    (found,) = compare(*sides).findings
    assert found.verdict == verdict
    assert ("maximum rose from 35000 to 3.5e+06 ns" in found.reason) == (verdict == "undecided")
    (row,) = plain(report.as_json(compare(*sides)))["rows"]
    assert row["maximum"] == [35e3, worst * 1e3]
