# SPDX-License-Identifier: BSD-2-Clause
"""All that can be done with a bundle after it was read, for bundles nobody vouches for."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from cyclometer.bundle.model import Bundle
from cyclometer.compare import aa, history, matrix, verdicts
from cyclometer.compare.pairing import side
from cyclometer.errors import CyclometerError
from cyclometer.lint import check
from cyclometer.report import aa as printed_aa
from cyclometer.report import comparison, detail, table
from cyclometer.report import history as printed_history
from cyclometer.report import matrix as printed_matrix
from cyclometer.report.chart.registry import CHARTS
from cyclometer.report.documents import kinds
from cyclometer.report.export import EXPORTERS
from cyclometer.report.export.request import make
from cyclometer.report.html.document import document
from cyclometer.report.html.subject import subject

_DETAILED = 3  # circles of which everything is printed


def outputs(bundle: Bundle, other: Bundle) -> Iterator[tuple[str, str | bytes]]:
    """(name, output) of every command that reads bundles; none for one that refuses in a sentence.

    `other` is what `bundle` is compared with, both ways.
    """
    for name, make_one in _all(bundle, other):
        stdout = io.StringIO()
        try:
            with contextlib.redirect_stdout(stdout):
                returned = make_one()
        except CyclometerError:
            continue
        yield name, stdout.getvalue() or returned or ""


def _all(bundle: Bundle, other: Bundle) -> Iterator[tuple[str, Callable[[], Any]]]:
    options = verdicts.Options()
    yield "show", lambda: table.show(bundle)
    yield "show --json", lambda: _strict(table.as_json(bundle))
    yield "lint", lambda: " ".join(finding.what for finding in check(bundle))
    for one, two in ((bundle, other), (other, bundle)):
        found = verdicts.compare(side([one]), side([two]))
        yield "compare", lambda found=found: comparison.show(found)
        yield "compare --json", lambda found=found: _strict(comparison.as_json(found))
        yield "compare --markdown", lambda found=found: comparison.markdown(found)
    modes: tuple[tuple[Any, Callable[[], Any]], ...] = (
        (printed_matrix, lambda: matrix.matrix({"a": side([bundle]), "b": side([other])})),
        (printed_aa, lambda: aa.measure([bundle, other], options)),
        (printed_history, lambda: history.history([other, bundle] * 2, options, {})),
    )
    for printer, mode in modes:
        yield printer.__name__, lambda p=printer, m=mode: p.show(m())
        yield f"{printer.__name__} json", lambda p=printer, m=mode: _strict(p.as_json(m()))
        yield f"{printer.__name__} markdown", lambda p=printer, m=mode: p.markdown(m())
    yield "report", lambda: document(subject([bundle], ["one"]), "one")
    yield "report of two", lambda: document(subject([other, bundle], ["a", "b"]), "two")
    for name in EXPORTERS.names():
        if name not in ("svg", "png"):
            yield name, lambda name=name: EXPORTERS.load(name)(make(bundle))
    yield "csv --samples", lambda: EXPORTERS.load("csv")(replace(make(bundle), samples=True))
    with contextlib.suppress(CyclometerError):
        for key in make(bundle).names[:_DETAILED]:
            yield from _of_circle(bundle, key)


def _of_circle(bundle: Bundle, key: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "show --circle", lambda: detail.show(bundle, key, as_json=False)
    yield "show --circle --json", lambda: detail.show(bundle, key, as_json=True)
    yield "kbench", lambda: EXPORTERS.load("kbench")(make(bundle, (key,)))
    for chart in CHARTS:
        one = replace(make(bundle, (key,)), chart=chart)
        yield f"svg {chart}", lambda one=one: EXPORTERS.load("svg")(one)


def _strict(value: Any) -> str:
    return json.dumps(kinds.plain(value), allow_nan=False)
