# SPDX-License-Identifier: BSD-2-Clause
"""What a report is about: bundles side by side, and an entry for every circle that any of them
has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from cyclometer.bundle.model import Bundle, Row
from cyclometer.compare import verdicts
from cyclometer.compare.finding import VERDICTS, Finding
from cyclometer.compare.pairing import VERSIONS, Side, likeness, side
from cyclometer.compare.verdicts import Comparison
from cyclometer.estimate.reference import FLOOR
from cyclometer.estimate.rows import Estimate
from cyclometer.lint import Issue, check
from cyclometer.report import circle
from cyclometer.report.circle import ReportedCircle

_OWN = 2  # a lint finding about more rows than this is about the suite


@dataclass(frozen=True)
class Entry:
    """One circle: in every bundle (None if that bundle has none), and what each later bundle
    changed.

    `findings` has one member per bundle after the first; None if neither of the two has the
    circle.
    """

    name: str
    anchor: str
    circles: tuple[ReportedCircle | None, ...]
    findings: tuple[Finding | None, ...] = ()

    @property
    def present(self) -> list[ReportedCircle]:
        return [c for c in self.circles if c is not None]

    @property
    def estimate(self) -> Estimate:
        """Of the first bundle that has the circle."""
        return self.present[0].estimate

    @property
    def verdict(self) -> str:
        """The first finding's in the order of what must be seen first; with one bundle `valid` or
        `invalid`.
        """
        found = [f.verdict for f in self.findings if f is not None]
        return (
            min(found, key=VERDICTS.index)
            if found
            else "valid"
            if self.estimate.valid
            else "invalid"
        )

    @property
    def word(self) -> str:
        """The verdict as people read it: of one later side the signed count, if it is one."""
        only = self.findings[0] if len(self.findings) == 1 else None
        return only.word if only is not None else self.verdict

    @property
    def change(self) -> float | None:
        """The largest change by size."""
        return max(
            (f.change for f in self.findings if f is not None and f.change is not None),
            key=abs,
            default=None,
        )


@dataclass(frozen=True)
class Subject:
    """Bundles with their labels, entries in the order of the overview, one comparison per bundle
    after the first, and what lint says of each bundle.
    """

    bundles: tuple[Bundle, ...]
    labels: tuple[str, ...]
    entries: tuple[Entry, ...]
    comparisons: tuple[Comparison, ...]
    remarks: tuple[tuple[Issue, ...], ...]

    def remarks_on(self, entry: Entry) -> list[tuple[Issue, str]]:
        """What lint says of one circle or of it and another: each sentence once, with the sides it
        is said of.

        The sides are empty where there is but one.
        """
        said: dict[str, tuple[Issue, list[str]]] = {}
        for one, bundle, findings, label in zip(
            entry.circles, self.bundles, self.remarks, self.labels, strict=True
        ):
            rows = bundle.identity.rows
            for finding in findings:
                if len(finding.rows) <= _OWN and any(
                    _is_of(rows[row], one) for row in finding.rows
                ):
                    said.setdefault(finding.what, (finding, []))[1].append(label)
        several = len(self.bundles) > 1
        return [(finding, ", ".join(sides) if several else "") for finding, sides in said.values()]


def _is_of(row: Row, one: ReportedCircle | None) -> bool:
    """Whether a row is the circle's, by whatever method."""
    of = one and (one.estimate.contract.key, one.estimate.configuration)
    return (row.contract.key, row.configuration) == of


def subject(bundles: Sequence[Bundle], labels: Sequence[str]) -> Subject:
    """Lines bundles up by their circles; the first is what the others are compared with."""
    sides = [side([bundle], course=True) for bundle in bundles]
    drawn = [
        _by_estimate(bundle, one, label if len(bundles) > 1 else "")
        for bundle, one, label in zip(bundles, sides, labels, strict=True)
    ]
    comparisons = tuple(verdicts.compare(sides[0], other) for other in sides[1:])
    raw = _aligned(sides[0], comparisons, drawn)
    names = circle.names([next(c for c in circles if c is not None).estimate for circles, _ in raw])
    entries = [
        Entry(name, _anchor(i, name), *each)
        for i, (name, each) in enumerate(zip(names, raw, strict=True))
    ]
    remarks = tuple(tuple(check(bundle)) for bundle in bundles)
    return Subject(
        tuple(bundles), tuple(labels), tuple(sorted(entries, key=_effect)), comparisons, remarks
    )


def _by_estimate(bundle: Bundle, one: Side, label: str) -> dict[int, ReportedCircle]:
    """The circles of a side with their samples, by the identity of their estimate."""
    found = [c.estimate for c in one.circles]
    return {id(c.estimate): c for c in circle.circles(bundle, found, label)}


_Raw = tuple[tuple[ReportedCircle | None, ...], tuple[Finding | None, ...]]


def _aligned(
    first: Side, comparisons: Sequence[Comparison], drawn: Sequence[dict[int, ReportedCircle]]
) -> list[_Raw]:
    """For every circle of the first side, then for what others add, its circles and findings in
    bundle order.
    """
    answers = [
        {id(f.pair.before.estimate): f for f in c.findings if f.pair.before is not None}
        for c in comparisons
    ]
    raw: list[_Raw] = []
    for one in first.circles:
        findings = tuple(found.get(id(one.estimate)) for found in answers)
        after = (_after(f, where) for f, where in zip(findings, drawn[1:], strict=True))
        raw.append(((drawn[0][id(one.estimate)], *after), findings))
    return raw + _added(comparisons, drawn)


def _after(finding: Finding | None, where: dict[int, ReportedCircle]) -> ReportedCircle | None:
    return (
        None
        if finding is None or finding.pair.after is None
        else where[id(finding.pair.after.estimate)]
    )


def _added(
    comparisons: Sequence[Comparison], drawn: Sequence[dict[int, ReportedCircle]]
) -> list[_Raw]:
    """What later bundles add; several that add a like circle share its entry."""
    found: dict[Hashable, dict[int, Finding]] = {}
    for place, comparison in enumerate(comparisons):
        seen = Counter[Hashable]()
        for f in comparison.findings:
            if f.pair.before is None and f.pair.after is not None:
                name = likeness(f.pair.after, frozenset(VERSIONS))
                found.setdefault((name, seen[name]), {})[place] = f
                seen[name] += 1
    findings = [tuple(map(by_place.get, range(len(comparisons)))) for by_place in found.values()]
    return [((None, *map(_after, each, drawn[1:])), each) for each in findings]


def _effect(entry: Entry) -> tuple[int, float]:
    """Verdicts that must be seen first, then the largest change; with one bundle valid ones by
    latency, then floors, then others.
    """
    if any(entry.findings):
        return VERDICTS.index(entry.verdict), -abs(entry.change or 0.0)
    latency = entry.estimate.latency
    floor = entry.estimate.contract.key.startswith(FLOOR)
    return 2 * (not entry.estimate.valid) + floor, entry.estimate.ns or (
        latency.value if latency else 0.0
    )


def _anchor(place: int, name: str) -> str:
    """An identifier: the place makes it the only one, the name makes it readable."""
    return f"c{place}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')[:80]}"
