# SPDX-License-Identifier: BSD-2-Clause
"""Stacks of an explained turn or of samples as files that other programs read, named by how they
end: flamegraph.pl and speedscope, Perfetto, KCachegrind and callgrind_annotate.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import lcm
from pathlib import Path
from typing import Any

from cyclometer import __version__
from cyclometer.errors import UsageError
from cyclometer.explain.explanation import Explanation
from cyclometer.explain.profile import LatencyShares
from cyclometer.text import plain

_CREATOR = f"cyclometer {__version__}"
_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_US = 1000  # of Perfetto's microseconds: a step of the clock is drawn as a nanosecond


@dataclass(frozen=True)
class Stacks:
    """One side: the functions that are open, outermost first, and what they cost there alone.

    Counts are of all `turns` together. `ordered`: the spans follow each other in time.
    """

    key: str
    unit: str
    turns: int
    ordered: bool
    spans: Sequence[tuple[Sequence[str], int]]


def of_turn(e: Explanation) -> Stacks:
    """Of all explained turns, in order."""
    spans = [(s.stack, s.stop - s.start) for s in e.segments if s.stop > s.start]
    return Stacks(e.facts.contract.key, e.facts.clock.unit, e.turn.turns, True, spans)


def of_samples(found: LatencyShares) -> Stacks:
    """Of all samples; their order is not kept."""
    spans = [(stack.frames, stack.count) for stack in found.profile.stacks]
    return Stacks(found.profile.contract.key, "samples", 1, False, spans)


def text(output: Path, sides: Sequence[Stacks]) -> str | None:
    """What to write into `output`, of one side or of the two of a difference; None if its name
    ends otherwise. Raises UsageError if the format cannot hold it.
    """
    written = next((write for end, write in _ENDS.items() if output.name.endswith(end)), None)
    return written(sides) if written else None


def _folded(sides: Sequence[Stacks]) -> str:
    """A line a stack; of two sides with two counts, each as of equally many turns."""
    turns = lcm(*(side.turns for side in sides))
    counts = [
        {stack: n * turns // side.turns for stack, n in _merged(side).items()} for side in sides
    ]
    names = dict.fromkeys(stack for side in counts for stack in side)
    lines = (
        f"{';'.join(_frame(name) for name in (sides[0].key, *stack))} "
        f"{' '.join(str(side.get(stack, 0)) for side in counts)}\n"
        for stack in names
    )
    return "".join(lines)


def _frame(name: str) -> str:
    return plain(name).replace(";", ":")


def _merged(side: Stacks) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for stack, count in side.spans:
        found[tuple(stack)] += count
    return found


def _speedscope(sides: Sequence[Stacks]) -> str:
    """One profile per side. Units of their format are bytes and times, so ours is in the name."""
    names = dict.fromkeys(name for side in sides for stack, _ in side.spans for name in stack)
    places = {name: place for place, name in enumerate(names)}
    profiles = [
        {
            "type": "sampled",
            "name": f"{title}{side.key} [{side.unit}{_of(side.turns)}]",
            "unit": "none",
            "startValue": 0,
            "endValue": sum(count for _, count in side.spans),
            "samples": [[places[name] for name in stack] for stack, _ in side.spans],
            "weights": [count for _, count in side.spans],
        }
        for title, side in zip(_titles(sides), sides, strict=True)
    ]
    document = {
        "$schema": _SCHEMA,
        "name": sides[0].key,
        "exporter": _CREATOR,
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": plain(name)} for name in names]},
        "profiles": profiles,
    }
    return json.dumps(document)


def _of(turns: int) -> str:
    return f" of {turns} turns" if turns > 1 else ""


def _titles(sides: Sequence[Stacks]) -> tuple[str, ...]:
    return ("before: ", "after: ") if len(sides) == 2 else ("",)


def _perfetto(sides: Sequence[Stacks]) -> str:
    """Chrome's trace events: one process per side, each function a slice from call to return."""
    if not all(side.ordered for side in sides):
        raise UsageError(
            "samples have no order in time, which Perfetto shows; write them as -o X.folded or "
            "-o X.speedscope.json"
        )
    events: list[dict[str, Any]] = []
    for process, (title, side) in enumerate(zip(_titles(sides), sides, strict=True), 1):
        named = f"{title}{side.key} [{side.unit}{_of(side.turns)}, drawn as ns]"
        own = {"pid": process, "tid": process}
        events.append({"ph": "M", "name": "process_name", **own, "args": {"name": plain(named)}})
        events += [
            {"ph": "X", "name": plain(name), "ts": start / _US, "dur": (stop - start) / _US, **own}
            for name, start, stop in _slices(side.spans)
        ]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def _slices(spans: Iterable[tuple[Sequence[str], int]]) -> Iterator[tuple[str, int, int]]:
    """Name, start and stop of every stretch in which a function stays open, callers first."""
    open_now: list[tuple[str, int]] = []
    done: list[tuple[int, int, str, int]] = []  # start, depth: the order to tell them in
    now = 0
    for stack, count in (*spans, ((), 0)):  # the last one closes all that is open
        kept = _alike([name for name, _ in open_now], stack)
        while len(open_now) > kept:
            name, start = open_now.pop()
            done.append((start, len(open_now), name, now))
        open_now += [(name, now) for name in stack[kept:]]
        now += count
    for start, _, name, stop in sorted(done):
        yield name, start, stop


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many outermost functions two stacks share."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _callgrind(sides: Sequence[Stacks]) -> str:
    """Callgrind's format, version 1: each function alone, and what it spends in those it calls.

    https://valgrind.org/docs/manual/cl-format.html
    """
    if len(sides) != 1:
        raise UsageError(
            "a callgrind file holds one turn; explain each side alone, or write the difference as "
            "-o X.folded"
        )
    side = sides[0]
    alone, calls, inclusive = _graph(side)
    names = {name: f"({place}) {_named(name)}" for place, name in enumerate(alone, 1)}
    lines = [
        "# callgrind format",
        "version: 1",
        f"creator: {_CREATOR}",
        f"cmd: {_named(side.key)}{_of(side.turns)}",
        "positions: line",
        f"events: {side.unit}",
        f"summary: {sum(alone.values())}",
    ]
    for caller, count in alone.items():
        lines += ["", "fl=(1) ???", f"fn={names[caller]}", f"0 {count}"]
        for edge, cost in inclusive.items():
            if edge[0] == caller:
                lines += [f"cfn={names[edge[1]]}", f"calls={calls[edge]} 0", f"0 {cost}"]
    return "\n".join((*lines, f"totals: {sum(alone.values())}", ""))


def _named(name: str) -> str:
    return plain(name).strip() or "?"


_Edge = tuple[str, str]


def _graph(side: Stacks) -> tuple[dict[str, int], Counter[_Edge], dict[_Edge, int]]:
    """What each function costs alone; of caller and called how often it was entered, also by a
    switch of threads, and the cost with all below. One that calls itself is charged once.
    """
    alone: dict[str, int] = {}
    calls: Counter[_Edge] = Counter()
    inclusive: Counter[_Edge] = Counter()
    before: Sequence[str] = ()
    for stack, count in side.spans:
        for name in stack:
            alone.setdefault(name, 0)
        alone[stack[-1]] += count
        kept = _alike(before, stack) if side.ordered else 0
        # entered anew from the first function on that was not open before
        edges = list(pairwise(stack))
        calls.update(edges[max(kept - 1, 0) :])
        for edge in dict.fromkeys(edges):
            inclusive[edge] += count
        before = stack
    return alone, calls, inclusive


_ENDS: dict[str, Callable[[Sequence[Stacks]], str]] = {
    ".folded": _folded,
    ".speedscope.json": _speedscope,
    ".perfetto.json": _perfetto,
    ".callgrind": _callgrind,
}
