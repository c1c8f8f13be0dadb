# SPDX-License-Identifier: BSD-2-Clause
"""Two kernels by the same circles: what each row costs on both, and which functions carry the
change.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from fractions import Fraction
from multiprocessing import get_context

from cyclometer.bundle.model import Bundle
from cyclometer.compare.finding import Finding
from cyclometer.compare.pairing import environment, side
from cyclometer.compare.verdicts import Comparison, compare
from cyclometer.errors import CyclometerError
from cyclometer.estimate.rows import Estimate
from cyclometer.explain import evidence
from cyclometer.explain.difference import Difference, PartChange, difference
from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.renames import paired
from cyclometer.targets.api import Request

CONFIG = "config.CONFIG_"
"""How the fact of a kernel that is an option of its configuration begins."""
_ABSENT = "absent"
_KILLED = (
    "a process that traces was killed, most likely because memory ran out; name fewer circles at "
    "once"
)
_SIDES = {"before": "old", "after": "new"}


@dataclass(frozen=True)
class KernelRow:
    """A circle on both kernels, in instructions per turn: of each boot. `why` says why a side has
    none.
    """

    key: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    why: str = ""
    difference: Difference | None = None
    # that carry the change, the largest first, renamed ones as one; they sum to that of the traced
    # turns
    functions: tuple[PartChange, ...] = ()
    # by the name of a function: the calls inline in it that changed, the largest first
    inlined: Mapping[str, tuple[PartChange, ...]] = field(default_factory=dict)
    untraced: str = ""  # why no function can be named

    @property
    def counts(self) -> tuple[float, float]:
        """Instructions per turn before and after, the lowest of each side's boots; of those whose
        count is whole, if there are any, for no turn takes another one.
        """
        old, new = (min(side, key=lambda n: (n % 1 != 0, n)) for side in (self.before, self.after))
        return old, new

    @property
    def change(self) -> float:
        """Instructions per turn, after - before."""
        old, new = self.counts
        return new - old

    @property
    def share(self) -> float | None:
        """The change as a fraction of the old count; None if that is 0."""
        old, _ = self.counts
        return self.change / old if old else None

    @property
    def explained(self) -> Fraction | None:
        """Instructions by which the traced turns differ; None if no turn was traced."""
        return self.difference.whole.change if self.difference else None


@dataclass(frozen=True)
class Kernels:
    """All rows, and what differs around them."""

    names: tuple[str, str]
    rows: list[KernelRow]
    facts: tuple[dict[str, str], dict[str, str]]

    def worse_than(self, margin: float) -> list[KernelRow]:
        """Rows that cost more by more than this share of the old count, a fraction."""
        return [row for row in self.rows if not row.why and (row.share or 0.0) > margin]

    def options(self) -> dict[str, tuple[str, str]]:
        """Options of the configuration that differ, by name without CONFIG_, but those that only
        got another name. One that a kernel's configuration does not have at all is `absent`, which
        counts as unset.
        """
        old, new = (_options(facts) for facts in self.facts)
        renamed = {
            name: later
            for name, value in old.items()
            if name not in new and new.get(later := _later_name(name)) == value
        }
        left = sorted({*old, *new} - {*renamed, *renamed.values()})
        pairs = {name: (old.get(name, _ABSENT), new.get(name, _ABSENT)) for name in left}
        return {n: (a, b) for n, (a, b) in pairs.items() if a != b and {a, b} != {_ABSENT, "n"}}


def _options(facts: Mapping[str, str]) -> dict[str, str]:
    return {n.removeprefix(CONFIG): value for n, value in facts.items() if n.startswith(CONFIG)}


def _later_name(option: str) -> str:
    """What Linux 6.9 made of the names of x86's mitigations: CPU_SRSO became MITIGATION_SRSO."""
    return f"MITIGATION_{option.removeprefix('CPU_').removesuffix('_MITIGATION')}"


def rows(before: Bundle, after: Bundle) -> list[KernelRow]:
    """Every circle of either bundle, in the order of `before`."""
    found: Comparison = compare(side([before]), side([after]))
    made = []
    for finding in found.findings:
        sides = finding.pair.before, finding.pair.after
        counts = [_counts(one.estimate) if one else () for one in sides]
        why = "" if all(counts) else _reason(finding)
        made.append(KernelRow(finding.key, counts[0], counts[1], why))
    return made


def _reason(finding: Finding) -> str:
    """Why a row has no count, with the sides called as in the mail."""
    said = finding.reason or f"not measured ({finding.verdict})"
    return re.sub(r"\b(before|after)(?=: )", lambda m: _SIDES[m[1]], said)


def _counts(e: Estimate) -> tuple[float, ...]:
    return tuple(run.latency.value for run in e.runs) if e.valid else ()


def kernels(before: Bundle, after: Bundle, requests: Sequence[Request]) -> Kernels:
    """Both sides with the functions that carry each change. `requests`, one per side, trace them; a
    circle whose trace fails says why in its row.
    """
    found = rows(before, after)
    changed = [row for row in found if not row.why and row.change]
    if changed:
        explained = _explained(changed, requests)
        found = [_with_functions(row, explained) for row in found]
    old, new = (_facts(bundle) for bundle in (before, after))
    return Kernels((old["image.name"], new["image.name"]), found, (old, new))


def _facts(bundle: Bundle) -> dict[str, str]:
    """What is known of a kernel, its image and its machine."""
    configurations = (row.configuration for row in bundle.identity.rows)
    return environment(bundle) | dict(next(configurations, {}))


def _explained(
    changed: Sequence[KernelRow], requests: Sequence[Request]
) -> list[dict[str, Explanation | str]]:
    """Of both sides by key: the turn, or why there is none. Both at once, each in a process, which
    collects no garbage: millions of steps stay alive until it ends, and looking through them takes
    a quarter of its time.
    """
    counts = [{row.key: row.counts[at] for row in changed} for at in (0, 1)]
    # spawned, for a fork of a process that has threads may hold their locks for ever
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=gc.disable) as pool:
        try:
            return list(pool.map(traced, requests, counts))
        except BrokenProcessPool:
            return [dict.fromkeys(keys, _KILLED) for keys in counts]


def traced(request: Request, counts: Mapping[str, float]) -> dict[str, Explanation | str]:
    """By circle the explanation of one turn, all from one boot, or the reason why there is none.

    `counts` are instructions per turn, by circle: the turn to explain is the one that long.
    """
    from cyclometer.targets.qemu_linux.target import QemuLinuxTarget

    keys = list(counts)
    target = QemuLinuxTarget()
    try:
        result = target.trace(replace(request, only=tuple(keys)), keys, counts)
    except CyclometerError as error:
        return dict.fromkeys(keys, str(error))
    found: dict[str, Explanation | str] = {}
    for key in keys:
        if key not in result.windows:
            found[key] = evidence.why_untraced(result.records, key)
            continue
        try:
            one = evidence.gather(target.name, result, [key], "steady")[key]
            counted = Fraction(counts[key]).limit_denominator(10**6)
            found[key] = explain(evidence.of_latency(one, counted))
        except CyclometerError as error:
            found[key] = str(error)
    return found


def _with_functions(
    row: KernelRow, explained: Sequence[Mapping[str, Explanation | str]]
) -> KernelRow:
    old, new = (one.get(row.key, "") for one in explained)
    if isinstance(old, Explanation) and isinstance(new, Explanation):
        found = difference(old, new)
        carrying = [c for c in paired(found.functions, old, new) if c.change]
        inside = _inlined(carrying, old, new)
        return replace(row, difference=found, functions=tuple(carrying), inlined=inside)
    reasons = [
        f"{word}: {one}" for word, one in (("old", old), ("new", new)) if isinstance(one, str)
    ]
    return replace(row, untraced="; ".join(reasons))


def _inlined(
    changes: Sequence[PartChange], old: Explanation, new: Explanation
) -> dict[str, tuple[PartChange, ...]]:
    """What the calls inline in each function changed by, where both sides know them. A call is
    known again by its name, for lines move; its line is that of the new side.
    """
    before, after = _calls(old), _calls(new)
    found = {}
    for one in changes if before and after else ():
        first, _, last = one.name.partition(" -> ")
        sides = before.get(first, {}), after.get(last or first, {})
        names = {call.partition(" (")[0]: call for side in sides for call in side}
        found[one.name] = _changed_calls(names, sides)
    return {name: calls for name, calls in found.items() if calls}


def _changed_calls(
    names: Mapping[str, str], sides: tuple[Mapping[str, Fraction], Mapping[str, Fraction]]
) -> tuple[PartChange, ...]:
    made = []
    for name, call in names.items():
        counts = [
            sum((n for words, n in side.items() if words.partition(" (")[0] == name), Fraction(0))
            for side in sides
        ]
        made.append(PartChange(call, counts[0], counts[1], ()))
    return tuple(sorted((c for c in made if c.change), key=lambda c: -abs(c.change)))


def _calls(e: Explanation) -> dict[str, dict[str, Fraction]]:
    """Counts of the calls inline in each function, a turn."""
    found: dict[str, dict[str, Fraction]] = {}
    for part in e.instructions:
        place = e.places[part.name]
        if place.inlined:
            calls = found.setdefault(place.function, {})
            calls[place.inlined] = calls.get(place.inlined, Fraction(0)) + e.a_turn(part.total)
    return found
