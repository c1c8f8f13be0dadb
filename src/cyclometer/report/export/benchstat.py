# SPDX-License-Identifier: BSD-2-Clause
"""Go's benchmark format (golang.org/design/14313-benchmark-format), as benchstat reads it."""

from __future__ import annotations

import re

from cyclometer.report.export.request import ExportRequest


def export(request: ExportRequest) -> str:
    """Go benchmark text for benchstat: one line per run, because the run is what repeats.

    Only what must agree for a comparison stands in configuration lines, for benchstat compares
    nothing across them.
    """
    found = list(request.latencies())
    facts = {
        "target": request.bundle.identity.target,
        "cpu": request.bundle.identity.environment.get("cpu_model"),
    }
    lines = [f"{name}: {_line(str(value))}" for name, value in facts.items() if value]
    units = {
        (_unit(e.clock.unit), "higher" if e.better == "higher" else "lower", e.clock.exact)
        for _, e, _ in found
    }
    lines += [
        f"Unit {unit} better={way}{' assume=exact' * exact}" for unit, way, exact in sorted(units)
    ]
    clock = ""
    for name, e, _ in found:
        if e.clock.name != clock:
            clock = e.clock.name
            lines.append(f"clock: {_line(clock)}")
        for r in e.runs:
            value = f"{r.latency.value!r} {_unit(e.clock.unit)}"
            lines.append(f"Benchmark/{_word(name)} {r.overall.tests} {value}")
    return "\n".join(lines) + "\n"


def _unit(unit: str) -> str:
    """A turn is one operation; a rate is its own unit already."""
    return unit if unit == "per_s" else f"{_word(unit)}/op"


def _word(text: str) -> str:
    """`text` as one word, for the format parts at white space."""
    return re.sub(r"\s+", "_", text)


def _line(text: str) -> str:
    return " ".join(text.split())
