# SPDX-License-Identifier: BSD-2-Clause
"""The command line of the reference kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cyclometer.errors import UsageError
from cyclometer.targets import reference_kernel

ROOT = Path(__file__).parents[2]


def test_patterns_that_the_kernel_would_drop_are_refused() -> None:
    most = reference_kernel._ONLY_MAX_BYTES
    assert reference_kernel.words({"only": "k" * most, "run": "1"}) == f"only={'k' * most} run=1"
    with pytest.raises(
        UsageError, match=f"{most + 1} characters long, and the kernel takes {most}"
    ):
        reference_kernel.words({"only": "k" * (most + 1)})


def test_the_kernel_and_the_port_kit_take_as_much() -> None:
    kernel = (ROOT / "kernel/bench/parameters.h").read_text()
    kit = (ROOT / "core/include/cyc/arguments.h").read_text()
    room = re.findall(r"char only\[(\d+)\]|ONLY_BYTES (\d+)", kernel + kit)
    assert {int(a or b) for a, b in room} == {reference_kernel._ONLY_MAX_BYTES + 1}
