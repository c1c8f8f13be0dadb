# SPDX-License-Identifier: BSD-2-Clause
"""A verdict for every circle of two sides, with the false discoveries of the whole suite bounded.

Pairs on an exact clock are decided one by one. All others are tested together: Benjamini and
Hochberg's procedure runs over every pair that can be tested: by its sessions if its visits lie on
axes of time, else by its runs, if there are at least two per side.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cyclometer import errors
from cyclometer.compare import (
    clock_offset,
    exact,
    over_pairs,
    over_runs,
    over_sessions,
    statistic,
    statistics,
)
from cyclometer.compare.finding import (
    DECIDED,
    VERDICTS,
    Basis,
    Finding,
    Options,
    both,
    named,
    rough,
)
from cyclometer.compare.pairing import Across, Pair, Side, pairs
from cyclometer.estimate.interval import Interval

FAR_MAXIMUM = 10
"""Times by which a printed maximum must grow to say something: those of like runs differ, too."""


@dataclass(frozen=True)
class Comparison:
    """All findings of two sides, and what differs around them; `notes` are sentences about the
    sessions that they rest on.
    """

    findings: tuple[Finding, ...]
    options: Options
    sides: tuple[Side, Side]
    notes: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Verdict -> rows, in the order of VERDICTS, without zeros."""
        counted = Counter(finding.verdict for finding in self.findings)
        return {verdict: counted[verdict] for verdict in VERDICTS if counted[verdict]}

    def of(self, verdict: str) -> list[Finding]:
        """The findings of one verdict, the largest change first."""
        found = [f for f in self.findings if f.verdict == verdict]
        return sorted(found, key=lambda f: -abs(f.change or 0.0))


def compare(
    before: Side, after: Side, options: Options | None = None, across: Across | None = None
) -> Comparison:
    """The verdict on every circle of two sides, none left out, in the order of `pairing.pairs`;
    `across` names circumstances that may differ.
    """
    options = options or Options()
    paired = statistic.chosen(pairs(before, after, across), options)
    found = [exact.by_image(pair, options.level) for pair in paired]
    why_absent = (_failures(before), _failures(after))
    # the first that applies decides; what none settles is tested together with all such pairs
    settled = [
        _broken(pair, why_absent)
        or _unlike(pair)
        or _without_ratio(pair, options)
        or exact.judge(pair, options.at(pair))
        for pair in found
    ]
    open_pairs = [pair for pair, finding in zip(found, settled, strict=True) if finding is None]
    judged, notes = _noisy(open_pairs, options)
    noisy = iter(judged)
    findings = tuple(_with_maximum(finding or next(noisy)) for finding in settled)
    return Comparison(findings, options, (before, after), notes)


def _with_maximum(finding: Finding) -> Finding:
    """Nothing is equivalent whose printed maximum became many times as large; whatever the verdict,
    its reason says so.
    """
    if finding.verdict not in (*DECIDED, "undecided") or finding.pair.after is None:
        return finding
    before, after = (e.maximum for e in both(finding.pair))
    if not before or not after or before < 0 or after < FAR_MAXIMUM * before:
        return finding
    verdict = "undecided" if finding.verdict == "equivalent" else finding.verdict
    reason = f"the maximum rose from {before:g} to {after:g} {finding.unit}; {finding.reason}"
    return replace(finding, verdict=verdict, reason=reason)


def compare_code(comparison: Comparison) -> int:
    """0 where at least one row was compared; otherwise the exit code that says why none was."""
    counts = comparison.counts()
    if any(verdict in counts for verdict in (*DECIDED, "undecided")):
        return errors.PASS
    alone = any(verdict in counts for verdict in ("not comparable", "added", "removed"))
    return errors.NOT_COMPARABLE if alone else errors.NOTHING


def gate_code(comparison: Comparison, allow_invalid: bool = False) -> int:
    """The exit code of a gate: regression before failure, before what cannot be compared, before
    what is undecided.

    A row that is gone cannot be compared any more. A row that failed on both sides, or that neither
    side could measure, was asked for and not judged: a failure, unless `allow_invalid`.
    """
    counts = comparison.counts()
    if "regressed" in counts or "over margin" in counts:
        return errors.REGRESSED
    if any(_newly_failed(f) for f in comparison.findings):
        return errors.FAILED
    if not allow_invalid and not compare_code(comparison) and _unjudged(comparison):
        return errors.FAILED
    if compare_code(comparison) or "not comparable" in counts or "removed" in counts:
        return compare_code(comparison) or errors.NOT_COMPARABLE
    return errors.UNDECIDED if "undecided" in counts else errors.PASS


def _unjudged(comparison: Comparison) -> bool:
    """Whether a circle is bad on both sides, be it that both have a row of it or that none has."""
    bad = (f.pair for f in comparison.findings if f.verdict in ("failed", "invalid"))
    rows = any(pair.after is None or not pair.after.estimate.valid for pair in bad)
    failed = [
        {p.where for p in side.problems if p.kind == "failed" and p.where.startswith("circle ")}
        for side in comparison.sides
    ]
    return rows or bool(failed[0] & failed[1])


def _newly_failed(finding: Finding) -> bool:
    before = finding.pair.before
    after_is_bad = finding.pair.after is None or not finding.pair.after.estimate.valid
    return (
        finding.verdict in ("failed", "invalid")
        and after_is_bad
        and (before is None or before.estimate.valid)
    )


def _failures(side: Side) -> dict[str, str]:
    """Circles that a side could not measure at all -> what it says about them."""
    named = (
        p
        for p in side.problems
        if p.kind in ("failed", "skipped") and p.where.startswith("circle ")
    )
    return {p.where.removeprefix("circle "): p.what for p in named}


def _broken(pair: Pair, why_absent: tuple[dict[str, str], dict[str, str]]) -> Finding | None:
    """A side without a valid latency: its contract was broken, or the measurement failed. Tests
    that were all disturbed leave the row undecided: the machine did that, not the kernel.
    """
    reasons, failed, drowned = [], False, pair.before is not None and pair.after is not None
    for name, circle, absent in zip(
        ("before", "after"), (pair.before, pair.after), why_absent, strict=True
    ):
        if circle is not None and not circle.estimate.valid:
            reasons.append(f"{name}: {circle.estimate.reason}")
            failed |= circle.estimate.failed
            drowned &= circle.estimate.drowned
        elif circle is None and pair.key in absent:
            reasons.append(f"{name}: {absent[pair.key]}")
            failed = True
    if not reasons:
        return None
    verdict = "undecided" if drowned else "failed" if failed else "invalid"
    return Finding(pair, verdict, "; ".join(reasons))


def _unlike(pair: Pair) -> Finding | None:
    if pair.after is None:
        return Finding(pair, "removed", "after has no such circle")
    if pair.before is None:
        return Finding(pair, "added", "before has no such circle")
    return Finding(pair, "not comparable", pair.refusal) if pair.refusal else None


def _without_ratio(pair: Pair, options: Options) -> Finding | None:
    """Latencies of zero or less have no ratio; zeros on both sides have not changed."""
    b, a = both(pair)
    if not any(r.latency.value for e in (b, a) for r in e.runs):
        known = b.clock.exact or min(len(b.runs), len(a.runs)) > 1
        if known:
            return Finding(
                pair, "equivalent", "0 on both sides", 0.0, Interval(0.0, 0.0, options.level)
            )
        return Finding(
            pair,
            "undecided",
            f"0 on both sides, but one run of {over_runs.alone(pair)}",
            0.0,
            more=1,
        )
    for name, e in (("before", b), ("after", a)):
        least = min(r.latency.value for r in e.runs)
        if least <= 0:
            return Finding(
                pair,
                "not comparable",
                f"the latency of {name} is {least:g}, so the relative change is undefined",
            )
    return None


def _noisy(open_pairs: Sequence[Pair], options: Options) -> tuple[list[Finding], tuple[str, ...]]:
    """Tests all pairs on noisy clocks together; and what their sessions were."""
    # pairs of visits are the best there is, then sessions, and then runs
    apart = [pair for pair in open_pairs if over_sessions.have(pair) and not over_pairs.have(pair)]
    found, notes = over_sessions.bases(apart, options)
    of_sessions = dict(zip(map(id, apart), found, strict=True))
    bases = [
        of_sessions.get(id(pair))
        or (over_pairs if over_pairs.have(pair) else over_runs).basis(pair, options.at(pair))
        for pair in open_pairs
    ]
    bases = [
        replace(one, change=clock_offset.between_boots(pair, one.change))
        for pair, one in zip(open_pairs, bases, strict=True)
    ]
    # A pair without an error is not tested, and must not make the tests of others weaker.
    tested = [i for i, one in enumerate(bases) if math.isfinite(one.change.standard_error)]
    adjusted = dict(
        zip(tested, statistics.adjust([bases[i].change.p for i in tested]), strict=True)
    )
    found = sum(p <= options.fdr for p in adjusted.values())
    # the share of the level at which Benjamini and Hochberg would accept one more discovery
    share = min(1.0, (found + 1) / max(1, len(adjusted)))
    own = [options.at(pair) for pair in open_pairs]
    bases = [_doubted(*each) for each in zip(open_pairs, bases, own, strict=True)]
    return [
        _judged(pair, one, float(adjusted[i]), within, share)
        if i in adjusted
        else over_runs.too_few(pair, one, within)
        for i, (pair, one, within) in enumerate(zip(open_pairs, bases, own, strict=True))
    ], notes


def _doubted(pair: Pair, one: Basis, options: Options) -> Basis:
    """The basis with what moved otherwise than the latency; a row on another statistic says what
    that one did and nothing else.
    """
    if pair.on != "latency":
        return replace(one, disagreement="", overall=None)
    moved = None if one.disagreement else statistic.elsewhere(pair, one.change, options)
    return one if moved is None else replace(one, disagreement=moved[0], elsewhere=moved[1])


def _judged(pair: Pair, one: Basis, p: float, options: Options, share: float) -> Finding:
    """The verdict on a pair; `share` as in `statistics.decide`."""
    if one.floor > options.margin:
        options = replace(options, margin=one.floor)
    decision = statistics.decide(one.change, one.units, options.margin, p, share)
    verdict = named(decision.verdict, both(pair)[0], options)
    veto = one.veto or _unknown(pair)
    if one.disagreement and verdict == "equivalent":
        veto = f"the latency stays, but {one.disagreement}"
    elif verdict == "improved" and _opposed(one):
        veto = f"the latency moved by {100 * one.change.fraction:+.2f} %, but {one.disagreement}"
    reason = veto or _why(one, decision, p, options)
    return Finding(
        pair=pair,
        verdict="undecided" if veto else verdict,
        reason="; ".join(filter(None, (one.note, reason))),
        change=one.change.fraction,
        interval=one.change.interval,
        scope=f"between {one.unit}s",
        p=p,
        minimum_detectable=decision.minimum_detectable,
        more=None if veto else decision.more,
        overall_change=None if one.overall is None else math.expm1(one.overall),
        disagreement=one.disagreement,
    )


def _unknown(pair: Pair) -> str:
    """Why a pair cannot be judged, if not even the order of magnitude of a side is known."""
    sides = zip(("before", "after"), both(pair), strict=True)
    unknown = [
        name for name, e in sides if e.latency and e.latency.interval.unknown(e.latency.value)
    ]
    listed = " and ".join(unknown)
    return f"the latency {listed} is not known to an order of magnitude" if unknown else ""


def _opposed(one: Basis) -> bool:
    """Whether what disagrees surely moved to the other side."""
    moved = one.overall if one.elsewhere is None else one.elsewhere
    return bool(one.disagreement) and (moved or 0.0) * one.change.log_ratio < 0


def _why(one: Basis, decision: statistics.Decision, p: float, options: Options) -> str:
    margin = (
        f"{'layout floor' if one.floor == options.margin else 'margin'} of {rough(options.margin)}"
    )
    if decision.verdict == "equivalent":
        return f"the whole interval lies within the {margin}"
    if decision.verdict != "undecided":
        return f"beyond the {margin}, p {p:.2g} over the suite"
    inside = abs(one.change.log_ratio) <= math.log1p(options.margin)
    what = "the interval reaches beyond the margin" if inside else f"p {p:.2g} over the suite"
    more = f"over {statistics.MOST_UNITS}" if decision.more is None else f"about {decision.more}"
    unit = one.unit if decision.more == 1 else f"{one.unit}s"
    each = "" if one.unit == "pair" else " per side"
    found = rough(decision.minimum_detectable)
    return f"{what}; needed: {more} more {unit}{each} (smallest detectable change now: {found})"
