# SPDX-License-Identifier: BSD-2-Clause
"""What `explain` prints with --json is what `cyclometer schema` says, member by member."""

from __future__ import annotations

import json

import pytest
from msgspec import Struct

from cyclometer.compare.why import Why
from cyclometer.explain import profile, span
from cyclometer.explain.difference import difference
from cyclometer.explain.explanation import explain
from cyclometer.explain.tail import tail
from cyclometer.report import documents, explanation, why
from cyclometer.report import profile as sampled
from cyclometer.report import span as spans
from cyclometer.report import tail as tails
from tests.cli.test_documents import documented
from tests.explain import machine, test_profile, test_span


def printed() -> dict[str, Struct]:
    """A document of each kind."""
    steady = explain(machine.evidence([3, 3], floor__empty__kernel=2, hardware__crossing__one=12))
    cold = explain(machine.evidence([90, 90]))
    windows = test_span.spanned((False, 0), (True, 7))
    paths = span.paths(windows, test_span.WANTED)
    shares = [profile.shares(test_profile.made(latency)) for latency in (1000, 1400)]
    changes = profile.difference(*shares)
    return {
        "explanation": explanation.as_json(steady, cold),
        "explained-difference": explanation.difference_json(difference(steady, cold)),
        "tail": tails.as_json(tail(machine.evidence([0, 0, 40, 0, 0, 0, 40, 0, 0, 0, 40, 0]))),
        "paths": spans.as_json("made-up", windows, test_span.WANTED, paths),
        "profile": sampled.as_json(shares[0], steady),
        "profile-difference": sampled.difference_json(changes),
        "why": why.as_json([Why("a.b", {"cycles": 2.0}, {"cycles": 3.0}, "one more")]),
    }


@pytest.mark.parametrize("kind", printed())
def test_a_document_is_what_its_schema_says(kind: str) -> None:
    documented(kind, json.loads(documents.dumps(printed()[kind])))


def test_what_a_schema_does_not_allow_is_found() -> None:
    document = json.loads(documents.dumps(printed()["explanation"]))
    document["steady"]["functions"][0]["colour"] = "red"
    with pytest.raises(AssertionError):
        documented("explanation", document)
