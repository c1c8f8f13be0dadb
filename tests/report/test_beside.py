# SPDX-License-Identifier: BSD-2-Clause
"""Samples and exact path of one circle, joined by function."""

from __future__ import annotations

import msgspec
import pytest

from cyclometer.explain.explanation import explain
from cyclometer.explain.profile import shares
from cyclometer.report import explained, profile
from cyclometer.report.beside import beside
from cyclometer.report.documents.explained import ExplainedTurn
from cyclometer.report.documents.sampled import SampledCircle
from tests.explain import machine
from tests.explain.test_profile import made


def sides() -> tuple[SampledCircle, ExplainedTurn]:
    return profile.as_json(shares(made())), explained.turn(explain(machine.evidence([0, 0])))


def test_every_function_of_either_side_is_there_once_the_largest_share_first() -> None:
    sampled, exact = sides()
    found = beside(sampled.functions, exact.functions, exact)
    names = {one.name for one in sampled.functions} | {part.name for part in exact.functions}
    assert sorted(one.name for one in found) == sorted(names)
    assert sum(one.executed_share for one in found) == pytest.approx(1)
    largest = [one.largest_share for one in found]
    assert largest == sorted(largest, reverse=True)
    entry = next(one for one in found if one.name == "entry")
    assert entry.sampled in sampled.functions
    assert entry.executed in exact.functions


def test_a_function_of_the_c_library_has_one_name() -> None:
    sampled, exact = sides()
    executed = [msgspec.structs.replace(exact.functions[0], name="__libc_write")]
    write = next(one for one in beside(sampled.functions, executed, exact) if one.name == "write")
    assert write.sampled is not None
    assert write.executed == executed[0]
