# SPDX-License-Identifier: BSD-2-Clause
"""What `explain` prints with --json is what `cyclometer schema` says, member by member."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import msgspec
import pytest
from msgspec import Struct

from cyclometer.compare.why import Why
from cyclometer.explain import profile, span
from cyclometer.explain.difference import difference
from cyclometer.explain.explanation import explain
from cyclometer.explain.layout import FootprintChange, FootprintChanges
from cyclometer.explain.tail import tail
from cyclometer.report import explained, explanation, why
from cyclometer.report import profile as sampled
from cyclometer.report import span as spans
from cyclometer.report import tail as tails
from cyclometer.report.documents import kinds
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
        "explanation": explained.circle(steady, cold),
        "explained-difference": explained.difference(difference(steady, cold)),
        "tail": explained.tail(tail(machine.evidence([0, 0, 40, 0, 0, 0, 40, 0, 0, 0, 40, 0]))),
        "paths": spans.as_json("made-up", windows, test_span.WANTED, paths),
        "profile": sampled.as_json(shares[0], steady),
        "profile-difference": sampled.difference_json(shares[0], shares[1], changes),
        "why": why.as_json(
            why.Reasons(
                [Why("a.b", {"cycles": 2.0}, {"cycles": 3.0}, "one more")],
                FootprintChanges(
                    [FootprintChange("a.b", steady.footprint, cold.footprint)], ["c.d"], []
                ),
            )
        ),
    }


@pytest.mark.parametrize("kind", printed())
def test_a_document_is_what_its_schema_says(kind: str) -> None:
    documented(kind, json.loads(kinds.dumps(printed()[kind])))


PRINTERS: dict[str, Callable[..., None]] = {
    "explanation": partial(explanation.show, lines=True),
    "explained-difference": explanation.show_difference,
    "tail": tails.show,
    "paths": spans.show,
    "profile": sampled.show,
    "profile-difference": sampled.show_difference,
}


@pytest.mark.parametrize("kind", PRINTERS)
def test_a_terminal_prints_the_same_from_the_json_alone(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = printed()[kind]
    PRINTERS[kind](document)
    shown = capsys.readouterr().out
    content = json.loads(kinds.dumps(document))
    del content["schema"]
    PRINTERS[kind](msgspec.convert(content, type(document)))
    assert capsys.readouterr().out == shown != ""


def test_what_a_schema_does_not_allow_is_found() -> None:
    document = json.loads(kinds.dumps(printed()["explanation"]))
    document["steady"]["functions"][0]["colour"] = "red"
    with pytest.raises(AssertionError):
        documented("explanation", document)
