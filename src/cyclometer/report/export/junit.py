# SPDX-License-Identifier: BSD-2-Clause
"""JUnit XML: circles as test cases, so that any CI shows which ones are not valid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cyclometer.estimate.rows import Estimate
from cyclometer.report import table
from cyclometer.report.export.request import ExportRequest
from cyclometer.units import NS_PER_S

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export(request: ExportRequest) -> str:
    """JUnit XML: an invalid circle and one that failed are failures, one that this machine cannot
    run is skipped.
    """
    cases = [*_circles(request), *_never_run(request)]
    suite = Element("testsuite", name=_text(f"cyclometer.{request.bundle.identity.target}"))
    suite.set("timestamp", request.bundle.identity.created)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    suite.extend(cases)
    root = Element("testsuites")
    root.append(suite)
    indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _circles(request: ExportRequest) -> Iterator[Element]:
    skipped = {p.where for p in request.bundle.identity.problems if p.kind == "skipped"}
    for name, e in zip(request.names, request.estimates, strict=True):
        case = _case(name, e.ns)
        if e.valid and e.latency is not None:
            SubElement(case, "system-out").text = _text(
                f"{table.with_interval(e.latency)} {e.clock.unit}"
            )
        else:
            _fault(
                case, "skipped" if f"circle {e.contract.key}" in skipped else "failure", _reason(e)
            )
        yield case


def _never_run(request: ExportRequest) -> Iterator[Element]:
    """Circles that left a problem and no row."""
    with_row = {f"circle {e.contract.key}" for e in request.estimates}
    for problem in request.bundle.identity.problems:
        if problem.where.startswith("circle ") and problem.where not in with_row:
            case = _case(problem.where.removeprefix("circle "), None)
            _fault(case, "skipped" if problem.kind == "skipped" else "failure", problem.what)
            yield case


def _case(name: str, ns: float | None) -> Element:
    family = name.partition(".")[0]
    return Element(
        "testcase", classname=_text(family), name=_text(name), time=f"{(ns or 0.0) / NS_PER_S:.12f}"
    )


def _fault(case: Element, kind: str, reason: str) -> None:
    SubElement(case, kind, message=_text(reason))


def _reason(e: Estimate) -> str:
    return e.reason or "no latency"


def _text(text: str) -> str:
    """`text` without the characters that XML 1.0 cannot hold, not even escaped."""
    return _NOT_XML.sub("\ufffd", text)
