# SPDX-License-Identifier: BSD-2-Clause
"""A comparison as a terminal table, as JSON, and as Markdown for a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from rich import box
from rich.table import Table

from cyclometer.compare.finding import CHANGED, DECIDED, VERDICTS, Finding, Options
from cyclometer.compare.pairing import ComparedCircle, Side, circumstances_apart
from cyclometer.compare.verdicts import Comparison, gate_code
from cyclometer.estimate.summary import ASSUMPTION
from cyclometer.report import changes, identity
from cyclometer.report.brief import page_columns
from cyclometer.report.cells import (
    change,
    configuration,
    distinguishing_options,
    interval,
    label,
    latencies,
    overall,
    why,
)
from cyclometer.report.documents import compared, members
from cyclometer.report.markdown import code, line, words
from cyclometer.report.terminal import Terminal

_PAPER = 200  # columns of a page that is not a terminal, for tables that show everything
_MARKDOWN_ROWS = 25
_QUIET = ("equivalent", "undecided")  # verdicts that nobody must act upon


def show(comparison: Comparison, wide: bool = False) -> None:
    """Prints every row, what differs around them, and the sentence, on standard output; `wide` is
    with every column.
    """
    console = paper() if wide else Terminal()
    found = [finding for verdict in VERDICTS for finding in comparison.of(verdict)]
    for said in comparison.notes:
        console.print(said, soft_wrap=True)
    if found and wide:
        console.print(table(found, distinguishing_options(comparison.findings)))
    elif found:
        for line in changes.lines(
            found, distinguishing_options(comparison.findings), page_columns()
        ):
            console.print(line, soft_wrap=True)
    for note in notes(comparison, found):
        console.print(note, style="dim", soft_wrap=True)
    console.print(sentence(comparison), style="bold", soft_wrap=True)


def paper() -> Terminal:
    """The terminal, or if there is none a page that is wide enough for every column."""
    return Terminal(_PAPER)


def table(found: Sequence[Finding], distinguishing: Iterable[str]) -> Table:
    """One line per finding, named with the `telling` options, with every column."""
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for name, justify in _COLUMNS:
        result.add_column(name, justify=justify, no_wrap=name != "reason", overflow="fold")
    for f in found:
        cells = (
            label(f, distinguishing),
            *latencies(f),
            f.unit,
            change(f),
            interval(f),
            overall(f),
            f.word,
            why(f),
        )
        result.add_row(*cells, style=changes.STYLES.get(f.verdict))
    return result


# name, justified
_COLUMNS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("circle", "left"),
    ("before", "right"),
    ("after", "right"),
    ("unit", "left"),
    ("change", "right"),
    ("interval", "right"),
    ("overall", "right"),
    ("verdict", "left"),
    ("reason", "left"),
)


def sentence(comparison: Comparison) -> str:
    """The whole comparison in one sentence."""
    counts = comparison.counts()
    if not counts:
        return "Neither side has a circle."
    parts = [f"{count} {verdict}" for verdict, count in counts.items()]
    worse = comparison.of("regressed") or comparison.of("over margin")
    if worse:
        parts[0] += f" (most: {worse[0].key} {change(worse[0])})"
    rows = len(comparison.findings)
    judged = "; ".join([", ".join(parts), *_bounds(comparison)])
    return f"Of {rows} row{'s' if rows != 1 else ''}: {judged}."


def _bounds(comparison: Comparison) -> list[str]:
    """The margin and the rate of false discoveries, where they decided anything."""
    o = comparison.options
    if any(
        f.verdict in (*DECIDED, "undecided") and f.scope != "exact" for f in comparison.findings
    ):
        return [f"margin {_margin(o)}, false discovery rate {_percent(o.fdr)}"]
    return [] if o.exact_margin is None else [f"margin {_margin(o)}"]


def _margin(o: Options) -> str:
    """The margin as it was given: a share, or amounts, of which the larger one counts."""
    return " or ".join([_percent(o.margin), *(f"{x:g} {unit}" for unit, x in o.amounts.items())])


def notes(comparison: Comparison, found: Sequence[Finding]) -> list[str]:
    """What the reader of these rows must know besides."""
    lines = identity.sentences(differences(comparison), {finding.unit for finding in found})
    if any(
        c is not None and c.estimate.assumption
        for f in found
        for c in (f.pair.before, f.pair.after)
    ):
        lines.append(f"intervals of printed figures assume: {ASSUMPTION}")
    if all(_nameless(side) for side in comparison.sides):
        lines.append(
            "neither side says on which machine it was measured, and machines differ, too; files "
            "ingested with --set board=NAME are compared with those of the same board only"
        )
    if apart := dict.fromkeys(
        tuple(names) for f in found if (names := circumstances_apart(f.pair))
    ):
        ways = " or ".join(" ".join(f"--across {name}" for name in names) for names in apart)
        lines.append(f"rows that differ in their circumstances alone are compared with {ways}")
    if any(finding.scope == "these runs" for finding in found):
        lines.append(
            "intervals from one run of a side speak about these runs: their spread is not that of "
            "the next run"
        )
    if any(finding.disagreement for finding in found):
        lines.append(
            "where the overall latency moved otherwise, the regimes of the machine changed, too"
        )
    for name, side in zip(("before", "after"), comparison.sides, strict=True):
        kinds = Counter(problem.kind for problem in side.problems)
        if kinds:
            listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            lines.append(f"{name} was measured with problems: {listed} (--json lists them)")
    return lines


def _nameless(side: Side) -> bool:
    facts = side.environment or {}
    return facts.get("target", "unknown") in ("", "unknown") and "cpu_model" not in facts


def as_json(comparison: Comparison) -> compared.Comparison:
    """Every row and the summary, with what either side's measurement reported."""
    o, (before, after) = comparison.options, comparison.sides
    summary = compared.ComparisonSummary(
        sentence=sentence(comparison),
        sessions=list(comparison.notes),
        counts=comparison.counts(),
        gate_exit_code=gate_code(comparison),
        margin=o.margin,
        margin_amounts=dict(o.amounts),
        fdr=o.fdr,
        layout_floor=o.layout_floor,
        differences=[members.Difference(*one) for one in differences(comparison)],
        problems={
            "before": members.problems(before.problems),
            "after": members.problems(after.problems),
        },
    )
    return compared.Comparison([_row(finding) for finding in comparison.findings], summary)


def _row(f: Finding) -> compared.ComparedRow:
    pair = (f.pair.before, f.pair.after)
    either = next(circle.estimate for circle in pair if circle is not None)
    return compared.ComparedRow(
        key=f.key,
        on=f.pair.on,
        before=members.value(f.before),
        after=members.value(f.after),
        unit=f.unit,
        change=f.change,
        interval=None if f.interval is None else members.ends(f.interval),
        verdict=f.verdict,
        word=f.word,
        reason=f.reason,
        title=either.contract.title,
        configuration=[configuration(circle) for circle in pair],
        method=either.method,
        better=either.better,
        runs=[_runs(circle) for circle in pair],
        scope=f.scope,
        p=f.p,
        minimum_detectable=f.minimum_detectable,
        more=f.more,
        maximum=[None if circle is None else circle.estimate.maximum for circle in pair],
        overall_change=f.overall_change,
        disagreement=f.disagreement,
        assumption=either.assumption,
    )


def markdown(comparison: Comparison) -> str:
    """The sentence, a table of the rows that are neither equivalent nor undecided, and folded away
    the undecided ones.

    Either table has at most _MARKDOWN_ROWS rows.
    """
    found = [f for verdict in VERDICTS if verdict not in _QUIET for f in comparison.of(verdict)]
    undecided = comparison.of("undecided")
    distinguishing = distinguishing_options(comparison.findings)
    lines = [f"**{words(sentence(comparison))}**", "", *_markdown_table(found, distinguishing)]
    if undecided:
        count = (
            f"{len(undecided)} undecided row{'s' if len(undecided) != 1 else ''} and what "
            "would decide"
        )
        folded = _markdown_table(undecided, distinguishing)
        lines += [f"<details><summary>{count}</summary>", "", *folded, "</details>", ""]
    lines += [f"- {words(note)}" for note in notes(comparison, found + undecided)]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_table(found: Sequence[Finding], distinguishing: Iterable[str]) -> list[str]:
    """At most _MARKDOWN_ROWS of the findings, and how many are left; empty without any."""
    if not found:
        return []
    lines = ["| circle | before | after | unit | change | verdict |", "|---|--:|--:|---|--:|---|"]
    for f in found[:_MARKDOWN_ROWS]:
        cells = (
            code(label(f, distinguishing)),
            *latencies(f),
            f.unit,
            _with_interval(f),
            _verdict_cell(f),
        )
        lines.append(line(cells))
    left = len(found) - _MARKDOWN_ROWS
    return [*lines, *([f"\nand {left} more such rows."] if left > 0 else []), ""]


def differences(comparison: Comparison) -> list[tuple[str, str, str]]:
    """(name, before, after) of what the bundles state differently about machine and build."""
    before, after = comparison.sides
    return identity.differences(before.environment, after.environment)


def _verdict_cell(f: Finding) -> str:
    said = f.disagreement if f.verdict in CHANGED else why(f)
    text = words(f.word + (f": {said}" if said else ""))
    return f"**{text}**" if f.verdict in ("regressed", "over margin") else text


def _with_interval(f: Finding) -> str:
    return f"{change(f)} ({interval(f)})" if interval(f) else change(f)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"


def _runs(circle: ComparedCircle | None) -> int:
    return 0 if circle is None else len(circle.estimate.runs)
