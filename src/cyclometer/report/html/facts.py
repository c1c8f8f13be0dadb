# SPDX-License-Identifier: BSD-2-Clause
"""The pages that speak of all circles: environment, what went wrong, and the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclometer.compare import pairing
from cyclometer.lint import RULES, Rule
from cyclometer.report.html.subject import Subject
from cyclometer.report.markup import Markup, tag

_OPEN = 6  # findings of one rule that stand open

WORDS = {
    "circle": "The complete repeating flow of user and kernel code under test; once round it is a "
    "turn.",
    "test": "N turns between two readings of the clock. Its accumulated latency A is what is "
    "measured.",
    "run": "One process start or one boot.",
    "visit": "The part of a run that one circle gets at a time.",
    "session": "One measurement: the visits of all circles, in random order over its time.",
    "latency": "The latency of a turn. Of a session it is the mean over its visits at the core's "
    "mean speed; by an exact clock the lowest count that repeats. Comparisons rest on it.",
    "base": "The latency of a turn in the lowest regime that the machine sustained.",
    "overall": "The latency of a turn over all tests that count.",
    "fixed cost c": "Of A = c + b N: what entering and leaving the interval and warming up cost a "
    "test.",
    "excluded": "A test with a known disturbance or a broken contract. It is kept and shown, and "
    "does not count.",
    "contract": "What a circle times and how often each event must be counted a turn. Tests that "
    "differ are invalid.",
    "ticks": "Steps of a reference clock, such as the x86 TSC. They are time, not core cycles.",
    "equivalent": "The whole interval of the change lies within the margin.",
    "undecided": "The interval reaches beyond the margin and does not exclude no change: more "
    "sessions or runs are needed.",
}


def environment(subject: Subject) -> Markup:
    """Facts of every bundle side by side, those that differ first."""
    sides = [pairing.environment(bundle) for bundle in subject.bundles]
    names = sorted({name for facts in sides for name in facts})
    differing = [name for name in names if len({facts.get(name) for facts in sides}) > 1]
    alike = [name for name in names if name not in differing]
    parts: list[Markup | None] = []
    if len(sides) > 1:
        parts.append(tag("h3", f"Differs ({len(differing)})" if differing else "Nothing differs"))
        parts.append(_facts(subject, sides, differing) if differing else None)
        summary = tag("summary", f"The same on all sides ({len(alike)})")
        parts.append(tag("details", summary, _facts(subject, sides[:1], alike)))
    else:
        parts.append(_facts(subject, sides, names))
    return _page("environment", "Environment", *parts)


def _facts(subject: Subject, sides: list[dict[str, str]], names: list[str]) -> Markup:
    head = tag(
        "thead", tag("tr", tag("td"), *(tag("th", label, scope="col") for label in subject.labels))
    )
    rows = [
        tag(
            "tr",
            tag("th", name.replace("_", " "), scope="row"),
            *(tag("td", side.get(name, "")) for side in sides),
        )
        for name in names
    ]
    return tag(
        "div",
        tag("table", head if len(sides) > 1 else None, tag("tbody", *rows), cls="facts"),
        cls="scroll",
    )


def problems(subject: Subject) -> Markup:
    """Whatever the reader of each bundle must know."""
    items = [
        tag(
            "li",
            tag("b", p.kind),
            f" {p.where}: " if p.where else " ",
            p.what,
            _side(subject, label),
        )
        for bundle, label in zip(subject.bundles, subject.labels, strict=True)
        for p in bundle.identity.problems
    ]
    if not items:
        return _page(
            "problems", "Problems", tag("p", "Nothing was damaged, failed or left out.", cls="lead")
        )
    return _page("problems", "Problems", tag("ul", *items, cls="problems"))


def _side(subject: Subject, label: str) -> Markup | None:
    return tag("small", f" ({label})") if len(subject.bundles) > 1 else None


def remarks(subject: Subject) -> Markup:
    """What lint found, rule by rule: why it matters, what to do, and where."""
    parts = [part for rule in RULES for part in _rule(subject, rule)]
    nothing = tag("p", "No rule found anything amiss with the data.", cls="lead")
    return _page("lint", "Lint", *(parts or [nothing]))


def _rule(subject: Subject, rule: Rule) -> Iterator[Markup]:
    items = [
        tag("li", finding.what, _side(subject, label))
        for findings, label in zip(subject.remarks, subject.labels, strict=True)
        for finding in findings
        if finding.rule == rule.id
    ]
    if items:
        yield tag("h3", level(rule.level), f" {rule.title} ({len(items)})")
        yield tag("p", f"{rule.explanation} {rule.fix}", cls="lead")
        listed = tag("ul", *items, cls="problems")
        yield listed if len(items) <= _OPEN else tag("details", tag("summary", "Where"), listed)


def level(name: str) -> Markup:
    """How grave a finding is, as a word."""
    return tag("span", name, cls=f"level {name}")


def words() -> Markup:
    """What the report's words mean."""
    terms = [
        part for word, meaning in WORDS.items() for part in (tag("dt", word), tag("dd", meaning))
    ]
    return _page("words", "How to read this", tag("dl", *terms, cls="words"))


def bundles(subject: Subject) -> Markup:
    """Which measurement each label stands for."""
    items: list[Markup] = []
    for index, (bundle, label) in enumerate(zip(subject.bundles, subject.labels, strict=True)):
        identity = bundle.identity
        about = (
            identity.title,
            identity.target,
            _kernel(identity.environment),
            identity.tool,
            identity.created,
        )
        line = tag("span", " · ".join(str(part) for part in about if part not in ("", "unknown")))
        swatch = tag("span", "■ ", cls=f"s{index}", aria_hidden="true")
        name = tag("b", swatch, f"{label} ") if len(subject.bundles) > 1 else None
        digest = tag("code", bundle.digest[:12], title=bundle.digest)
        items.append(tag("li", name, line, " ", digest))
    return tag("ul", *items, cls="bundles")


def _kernel(environment: Mapping[str, object]) -> str:
    return str(environment.get("target_kernel") or environment.get("kernel_release") or "")


def _page(name: str, title: str, *parts: Markup | None) -> Markup:
    heading = tag("h2", title, id=f"{name}-title", tabindex="-1")
    return tag("section", heading, *parts, id=name, cls="page", aria_labelledby=f"{name}-title")
