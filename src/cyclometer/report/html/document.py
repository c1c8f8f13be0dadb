# SPDX-License-Identifier: BSD-2-Clause
"""The whole report as one HTML file."""

from __future__ import annotations

from collections import Counter

from cyclometer.report import comparison
from cyclometer.report.html import circle_page, facts, overview, render
from cyclometer.report.html.render import Link
from cyclometer.report.html.subject import Subject


def document(subject: Subject, title: str) -> str:
    """The report's text, to be written as UTF-8."""
    entries, several = subject.entries, len(subject.bundles) > 1
    around = zip((None, *entries), entries, (*entries[1:], None), strict=False)
    return render.page(
        "report.html",
        "report.js",
        title=title,
        lead=[_sentence(subject)],
        links=_links(subject),
        labels=subject.labels,
        several=several,
        bundles=facts.bundles(subject),
        verdicts=overview.verdicts(subject),
        latencies=None if several else overview.latencies(subject),
        changes=overview.changes(subject) if several else None,
        circles=[
            circle_page.page(entry, before, after, subject.remarks_on(entry))
            for before, entry, after in around
        ],
        environment=facts.environment(subject),
        remarks=list(facts.remarks(subject)),
        problems=facts.problems(subject),
        words=facts.WORDS,
    )


def _links(subject: Subject) -> list[Link]:
    return [
        Link("#overview", "Circles"),
        Link("#environment", "Environment"),
        Link("#lint", f"Lint ({sum(map(len, subject.remarks))})"),
        Link("#problems", "Problems"),
        Link("#words", "How to read this"),
    ]


def _sentence(subject: Subject) -> str:
    """The whole in one sentence."""
    if len(subject.comparisons) == 1:
        return comparison.sentence(subject.comparisons[0])
    counts = Counter(entry.verdict for entry in subject.entries)
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{len(subject.entries)} circles: {summary}."
