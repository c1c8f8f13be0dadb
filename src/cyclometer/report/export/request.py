# SPDX-License-Identifier: BSD-2-Clause
"""What an exporter is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cyclometer.bundle.model import Bundle
from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.estimate.levels import LevelsEstimate
from cyclometer.estimate.rows import Estimate, estimates
from cyclometer.report.circle import chosen, names


@dataclass(frozen=True)
class ExportRequest:
    """A bundle, the estimates of it that were chosen with a name for each, and what only some
    formats ask for.
    """

    bundle: Bundle
    estimates: tuple[Estimate, ...]
    names: tuple[str, ...]
    run: int | None = None  # kbench: this run; None the first
    samples: bool = False  # csv: raw samples instead of estimates
    chart: str = "samples"  # svg, png: which chart, by its name in chart.registry
    # svg, png: the same circle of another bundle, drawn as what came after
    beside: ExportRequest | None = None

    def latencies(self) -> Iterator[tuple[str, Estimate, LevelsEstimate]]:
        """The estimates that may be handed on as results: valid ones. Raises NothingMeasured if
        there are none.
        """
        found = [
            (n, e, e.latency)
            for n, e in zip(self.names, self.estimates, strict=True)
            if e.valid and e.latency
        ]
        if not found:
            raise NothingMeasured(
                "no circle of the bundle has a valid latency to export; `cyclometer show` says why"
            )
        return iter(found)

    def only_one(self, format_name: str) -> Estimate:
        """The single estimate of a format that holds one circle. Raises UsageError if there are
        more.
        """
        if len(self.estimates) != 1:
            raise UsageError(
                f"{format_name} holds one circle and {len(self.estimates)} are chosen; "
                f"name one with --circle (and --where OPTION=VALUE), such as {self.names[0]}"
            )
        return self.estimates[0]


def make(
    bundle: Bundle, keys: tuple[str, ...] = (), where: dict[str, str] | None = None
) -> ExportRequest:
    """A request for the circles `keys` (all when empty) in configurations that have every option of
    `where`.

    A key may be a name that distinguishes its circle from its namesakes. Raises UsageError if a
    key or an option is not in the bundle.
    """
    everything = estimates(bundle)
    if not everything:
        raise NothingMeasured(
            "the bundle holds no circle to export; measure again or name another bundle"
        )
    options = (where or {}).items()
    asked_for = {id(e) for key in keys for e in chosen(everything, key)}
    found = [e for e in everything if not keys or id(e) in asked_for]
    found = [e for e in found if options <= e.configuration.items()]
    if not found:
        asked = ", ".join(f"{name}={value}" for name, value in options)
        raise UsageError(
            f"the bundle has no circle with {asked}; `cyclometer show --json` lists the "
            "configurations"
        )
    return ExportRequest(bundle, tuple(found), tuple(names(found)))
