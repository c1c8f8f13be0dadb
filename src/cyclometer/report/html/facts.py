# SPDX-License-Identifier: BSD-2-Clause
"""What speaks of all circles: bundles, their environment, what went wrong, and the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cyclometer.bundle.model import Bundle, Problem
from cyclometer.compare import pairing
from cyclometer.lint import RULES, Issue, Rule
from cyclometer.report.html.subject import Subject

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
    "contract": "What a circle times and how often each event must be counted per turn. Tests that "
    "differ are invalid.",
    "ticks": "Steps of a reference clock, such as the x86 TSC. They are time, not core cycles.",
    "equivalent": "The whole interval of the change lies within the margin.",
    "undecided": "The interval reaches beyond the margin and does not exclude no change: more "
    "sessions or runs are needed.",
}


class BundleLine(NamedTuple):
    """Which measurement a label stands for."""

    label: str
    about: str
    digest: str


@dataclass(frozen=True)
class Environment:
    """Facts by name, one value a bundle: those that differ, and those that do not."""

    differing: dict[str, list[str]]
    alike: dict[str, str]


class Remarks(NamedTuple):
    """What a rule of lint found, and in which bundle."""

    rule: Rule
    found: list[tuple[Issue, str]]


def bundles(subject: Subject) -> list[BundleLine]:
    """A line for each."""
    both = zip(subject.bundles, subject.labels, strict=True)
    return [BundleLine(label, _about(bundle), bundle.digest) for bundle, label in both]


def _about(bundle: Bundle) -> str:
    identity = bundle.identity
    kernel = _kernel(identity.environment)
    parts = (identity.title, identity.target, kernel, identity.tool, identity.created)
    known = dict.fromkeys(str(part) for part in parts if part not in ("", "unknown"))
    return " · ".join(known)  # the reference kernel is of the tool's own version


def _kernel(environment: Mapping[str, object]) -> str:
    return str(environment.get("target_kernel") or environment.get("kernel_release") or "")


def environment(subject: Subject) -> Environment:
    """Of every bundle."""
    sides = [pairing.environment(bundle) for bundle in subject.bundles]
    names = sorted({name for facts in sides for name in facts})
    differing = [name for name in names if len({facts.get(name) for facts in sides}) > 1]
    return Environment(
        {name: [side.get(name, "") for side in sides] for name in differing},
        {name: sides[0][name] for name in names if name not in differing},
    )


def problems(subject: Subject) -> list[tuple[Problem, str]]:
    """Whatever the reader of each bundle must know, with its label."""
    both = zip(subject.bundles, subject.labels, strict=True)
    return [(p, label) for bundle, label in both for p in bundle.identity.problems]


def remarks(subject: Subject) -> Iterator[Remarks]:
    """What lint found, rule by rule."""
    both = zip(subject.remarks, subject.labels, strict=True)
    issues = [(issue, label) for found, label in both for issue in found]
    for rule in RULES:
        found = [(issue, label) for issue, label in issues if issue.rule == rule.id]
        if found:
            yield Remarks(rule, found)
