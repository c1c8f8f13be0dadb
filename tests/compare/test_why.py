# SPDX-License-Identifier: BSD-2-Clause
"""`compare --why`: what the processor counted on both sides, in one sentence per circle."""

from __future__ import annotations

import pytest

from cyclometer.compare import why
from cyclometer.report import why as report
from tests.estimate.test_hardware import proven


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
    assert said in report.markdown([found])
    assert report.as_json([found]).circles[0].after["cycles"] == after["cycles"]


def test_without_counters_why_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    report.show(why.why(proven(), proven()))
    assert "Neither side has counters" in capsys.readouterr().out
