# SPDX-License-Identifier: BSD-2-Clause
"""The whole report as one HTML file, which loads nothing and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from cyclometer import __version__
from cyclometer.report import comparison
from cyclometer.report.chart import registry
from cyclometer.report.html import facts, overview, page
from cyclometer.report.html.subject import Subject
from cyclometer.report.markup import Markup, join, tag

_HERE = Path(__file__).parent


def document(subject: Subject, title: str) -> str:
    """The report's text, to be written as UTF-8."""
    return whole(
        title, (_header(subject, title), _main(subject)), script=(_HERE / "report.js").read_text()
    )


def whole(
    title: str, parts: Iterable[Markup], style: str = "", script: str = "", footer: str = ""
) -> str:
    """A document of `parts` between the head and the footer, with the report's style and `style`.

    A document with a `footer` of its own is a page of a site, whose script may load its files.
    """
    styles = Markup(registry.style() + (_HERE / "report.css").read_text() + style)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag(
            "meta",
            http_equiv="Content-Security-Policy",
            content=_policy(styles, script, bool(footer)),
        ),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", styles),
    )
    body = tag("body", *parts, _footer(footer), tag("script", Markup(script)) if script else None)
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _policy(style: str, script: str, of_site: bool) -> str:
    """Nothing from anywhere, but a site's own scripts; of styles and scripts in the page only the
    two whose digest is named.
    """
    digests = [
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        for part in (style, script)
    ]
    own = " 'self'" if of_site and script else ""
    allowed = (
        f"style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'{own}; img-src data:"
    )
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _header(subject: Subject, title: str) -> Markup:
    links = {
        "overview": "Circles",
        "environment": "Environment",
        "lint": f"Lint ({sum(map(len, subject.remarks))})",
        "problems": "Problems",
        "words": "How to read this",
    }
    return tag(
        "header",
        tag("a", "Skip to the circles", href="#overview", cls="skip"),
        tag("h1", title),
        tag("p", _sentence(subject), cls="lead"),
        facts.bundles(subject),
        tag(
            "nav",
            *(tag("a", words, href=f"#{name}") for name, words in links.items()),
            aria_label="Report",
        ),
    )


def _sentence(subject: Subject) -> str:
    """The whole in one sentence."""
    if len(subject.comparisons) == 1:
        return comparison.sentence(subject.comparisons[0])
    counts = Counter(entry.verdict for entry in subject.entries)
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{len(subject.entries)} circles: {summary}."


def _main(subject: Subject) -> Markup:
    entries = subject.entries
    around = zip((None, *entries), entries, (*entries[1:], None), strict=False)
    pages = (
        page.page(entry, before, after, subject.remarks_on(entry))
        for before, entry, after in around
    )
    general = (
        facts.environment(subject),
        facts.remarks(subject),
        facts.problems(subject),
        facts.words(),
    )
    return tag("main", overview.overview(subject), join(pages), *general)


def _footer(own: str) -> Markup:
    text = own or "This file is complete: it loads nothing from anywhere."
    return tag("footer", f"cyclometer {__version__}. {text}")
