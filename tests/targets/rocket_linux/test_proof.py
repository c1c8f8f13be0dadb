# SPDX-License-Identifier: BSD-2-Clause
"""Two machines' steps side by side: what is equal, what differs for a known reason, what does
not.
"""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.record.trace import STEP, Steps
from cyclometer.targets.rocket_linux import proof

NAMES = {0: "getppid", 10: "__fstate_save", 20: "update_rt_rq_load_avg", 30: "strange"}


def steps(*pcs: int) -> Steps:
    found = np.zeros(len(pcs), STEP)
    found["pc"] = pcs
    return found


def compared(qemu: Steps, rtl: Steps) -> proof.Proof:
    return proof.compare("a", 8, qemu, rtl, lambda pc, _: NAMES[pc // 10 * 10])


def test_equal_steps_prove_the_move() -> None:
    found = compared(steps(0, 2, 4, 10), steps(0, 2, 4, 10))
    assert found.identical
    assert (found.equal_steps, found.differing) == (4, {})


def test_the_order_of_the_same_functions_is_a_difference() -> None:
    found = compared(steps(0, 2, 4), steps(0, 4, 2))
    assert not found.identical
    assert (found.equal_steps, found.differing, found.explained) == (1, {}, False)


@pytest.mark.parametrize("pc", [10, 20])
def test_what_the_machines_are_known_for_is_explained(pc: int) -> None:
    found = compared(steps(0, 2), steps(0, pc, pc + 1, 2))
    assert found.differing == {NAMES[pc]: 2}
    assert found.explained


def test_another_function_is_not_explained_and_the_largest_difference_comes_first() -> None:
    found = compared(steps(0, 30, 31), steps(0, 10, 11, 12, 31))
    assert list(found.differing.items()) == [("__fstate_save", 3), ("strange", -1)]
    assert found.unexplained == {"strange": -1}
    assert not found.explained
