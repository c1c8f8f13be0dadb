# SPDX-License-Identifier: BSD-2-Clause
"""Sides that differ in what happened beside their visits."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from cyclometer.bundle.model import Bundle, tag_bit
from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import compare, gate_code
from cyclometer.errors import UNDECIDED
from tests.compare.recorded import recorded

MS = 1_000_000


def beside(bundle: Bundle, busy: float, seed: int = 1, count: str = "pressure_us") -> Bundle:
    """The bundle, in this share of whose visits something waited for a CPU, or one was idle."""
    waited = np.random.default_rng(seed).random(len(bundle.identity.plan["order"])) < busy
    order = [
        visit | {"counts": {"elapsed_ns": 2 * MS, count: 2000 * int(one)}}
        for visit, one in zip(bundle.identity.plan["order"], waited, strict=True)
    ]
    plan = bundle.identity.plan | {"order": order}
    return replace(bundle, identity=msgspec.structs.replace(bundle.identity, plan=plan))


def test_a_side_beside_more_work_leaves_every_row_undecided() -> None:
    before, after = beside(recorded("aa1"), 0.1), beside(recorded("aa2"), 0.4)
    found = compare(side([before]), side([after]))
    assert {f.verdict for f in found.findings} == {"undecided"}
    assert "a busier machine: 10 % of the time with tasks waiting" in found.findings[0].reason
    assert "and 4" in found.findings[0].reason


def test_a_side_beside_work_on_another_cpu_leaves_every_row_undecided() -> None:
    """Nothing waits for that CPU, and the measured one switches to nobody."""
    before = beside(recorded("aa1"), 0.4, count="idle_us")
    after = beside(recorded("aa2"), 0.1, count="idle_us")
    found = compare(side([before]), side([after]))
    assert {f.verdict for f in found.findings} == {"undecided"}
    assert "10 % of the time in which a CPU was idle" in found.findings[0].reason


def test_sides_beside_the_same_work_are_judged_as_if_it_were_not_known() -> None:
    alike = compare(
        side([beside(recorded("aa1"), 0.4)]), side([beside(recorded("aa2"), 0.42, seed=2)])
    )
    plain = compare(side([recorded("aa1")]), side([recorded("aa2")]))
    assert [f.verdict for f in alike.findings] == [f.verdict for f in plain.findings]


def sharing(bundle: Bundle, cycles: int) -> Bundle:
    """The bundle, whose independent instructions took so many cycles beside each test."""
    tests, noise = len(bundle.samples), np.random.default_rng(5)
    counters = {
        "core_cycles": np.full(tests, 1_000_000),
        "core_ticks": np.full(tests, 1_000_000),
        "issue_before": np.full(tests, cycles) + noise.integers(0, 20, tests),
        "issue_after": np.full(tests, cycles),
    }
    return replace(bundle, samples=replace(bundle.samples, counters=counters))


def test_a_side_whose_core_was_shared_leaves_every_row_undecided() -> None:
    before, after = recorded("aa1"), recorded("aa2")
    found = compare(side([sharing(before, 11_000)]), side([sharing(after, 14_000)]))
    assert {f.verdict for f in found.findings} == {"undecided"}
    assert "independent instructions took 11" in found.findings[0].reason
    alike = compare(side([sharing(before, 11_000)]), side([sharing(after, 11_100)]))
    assert "busier" not in " ".join(f.reason for f in alike.findings)


def test_a_circle_of_which_every_test_was_disturbed_is_undecided_and_no_failure() -> None:
    before, after = recorded("aa1"), recorded("aa2")
    key = after.identity.rows[0].contract.key
    of_key = [i for i, row in enumerate(after.identity.rows) if row.contract.key == key]
    tags = after.samples.tags.copy()
    tags[np.isin(after.samples.row, of_key)] = tag_bit("shared core")
    after = replace(after, samples=replace(after.samples, tags=tags))
    found = compare(side([before]), side([after]))
    (one,) = (f for f in found.findings if f.key == key)
    assert (one.verdict, one.reason) == ("undecided", "after: no test counts: all were set aside")
    assert gate_code(found) == UNDECIDED
