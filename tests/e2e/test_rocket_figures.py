# SPDX-License-Identifier: BSD-2-Clause
"""The reference kernel beats its figures on the Rocket core, with a memory that answers in the next
cycle.

The clock is exact and the core is simulated, so absolute figures are the same on every machine.
"""

from __future__ import annotations

import numpy as np
import pytest

from cyclometer.bundle.model import Bundle
from cyclometer.record.schema import Flow
from cyclometer.targets.api import SILENT, Request
from cyclometer.targets.rocket import target as rocket

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(rocket.rocket().missing()), reason=rocket.rocket().missing()),
]

# Mean warm cycles. seL4 on this very core and memory: 830, 878, 872 and 641 for the first four.
MOST_CYC = {
    "endpoint.round_trip.words_0.same": 480,
    "endpoint.round_trip.words_0.cross": 560,
    "notification.signal.wake+ctx.prio_1.u_to_u.same": 500,
    "thread.yield.preemptive.ctx.u_to_u": 400,
    "microkit.ppcall.cross": 700,
    "microkit.notify.cross": 1300,
}


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    request = Request(
        only=tuple(MOST_CYC), runs=1, flow=Flow(initial=8, delta=8, groups=2, tests=3)
    )
    return rocket.rocket().measure(request, {}, SILENT).bundle


@pytest.mark.parametrize("key", MOST_CYC)
def test_mean_warm_cycles(bundle: Bundle, key: str) -> None:
    samples = bundle.samples
    row = next(i for i, row in enumerate(bundle.identity.rows) if row.contract.key == key)
    tests = (samples.row == row) & (samples.kind == 0)
    assert not samples.tags[tests].any()
    assert float(np.mean(samples.value[tests] / samples.turns[tests])) <= MOST_CYC[key]
