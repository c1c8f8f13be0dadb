# SPDX-License-Identifier: BSD-2-Clause
"""Windows between two addresses, parted again out of the file that a simulator wrote."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from cyclometer.errors import BadFile
from cyclometer.record.span import AddressSpan, part
from cyclometer.record.trace import INTERRUPTED, STEP, Steps

CALL, SHORT_CALL = 0x0EF, 0x9502  # jal ra; c.jalr a0


def steps(pcs: Sequence[int], insn: int = CALL, interrupted: Sequence[int] = ()) -> Steps:
    made = np.zeros(len(pcs), STEP)
    made["pc"], made["insn"][0] = pcs, insn
    made["flags"][list(interrupted)] = INTERRUPTED
    return made


def parted(made: Steps, stop: int | None) -> list[list[int]]:
    return [
        window["pc"].tolist() for window in part(made, AddressSpan(0x20, stop, 0, None), "file")
    ]


def test_a_window_is_without_the_steps_beside_it() -> None:
    twice = np.concatenate([steps([8, 0x20, 0x24, 0x40]), steps([0x50, 0x20, 0x40])])
    assert parted(twice, 0x40) == [[0x20, 0x24], [0x20]]


def test_a_loop_ends_where_it_begins() -> None:
    """The step at the end of one is that at the beginning of the next, and is written for both."""
    twice = np.concatenate([steps([8, 0x20, 0x24, 0x20]), steps([0x20, 0x20, 0x24, 0x28, 0x20])])
    assert parted(twice, 0x20) == [[0x20, 0x24], [0x20, 0x24, 0x28]]


@pytest.mark.parametrize(("insn", "back"), [(CALL, 0x104), (SHORT_CALL, 0x102)])
def test_a_return_is_behind_the_call(insn: int, back: int) -> None:
    assert parted(steps([0x100, 0x20, 0x24, back], insn), None) == [[0x20, 0x24]]


def test_an_interrupt_before_the_last_instruction_belongs_to_the_window() -> None:
    made = steps([8, 0x20, 0x40, 0x80, 0x40], interrupted=[2])
    assert parted(made, 0x40) == [[0x20, 0x40, 0x80]]


def test_a_window_without_an_end_is_left_out() -> None:
    assert parted(steps([8, 0x20, 0x24]), 0x40) == []
    assert parted(steps([8])[:0], 0x40) == []


def test_another_file_is_refused() -> None:
    with pytest.raises(BadFile, match="does not begin at 0x20"):
        part(steps([8, 0x24, 0x40]), AddressSpan(0x20, 0x40, 0, None), "file")
