# SPDX-License-Identifier: BSD-2-Clause
"""Microkit and libmicrokitco validations: passes and averages run by run, or the later mean and
variance.

The two forms time with different clocks under the same titles (thread utilisation, then the cycle
counter), so they get different clocks here and are never compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from cyclometer.bundle.model import Clock, Contract, Span, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.reading import Foreign

NAME = "microkit"
DESCRIPTION = (
    "Microkit and libmicrokitco validation logs: passes and averages, or Mean and Stdev = sqrt(...)"
)

_CLIENT = Span("round_trip", "client: before its invocation", "client: after it is back")
_NOTIFY = (
    "client: Signal",
    "server: Recv returns",
    "server: notified() returns",
    "server: Signal",
    "server: Recv",
)

# Words of a title, all of which must be there -> key, title, sequence; the first that fits.
_KNOWN: tuple[tuple[tuple[str, ...], str, str, tuple[str, ...]], ...] = (
    (
        ("ppcall",),
        "microkit.ppcall",
        "protected procedure call and back",
        (
            "client: Call",
            "server: Recv returns",
            "server: protected() returns",
            "server: ReplyRecv",
            "client: Call returns",
        ),
    ),
    (
        ("libco",),
        "microkit.notify_bare_coroutine_wait",
        "notification there and back, waiting in a bare coroutine",
        (
            *_NOTIFY,
            "client: switch to the root coroutine",
            "client: Recv returns",
            "client: switch back",
        ),
    ),
    (
        ("cowait",),
        "microkit.notify_coroutine_wait",
        "notification there and back, waiting with the coroutine library",
        (*_NOTIFY, "client: library waits", "client: Recv returns", "client: library resumes"),
    ),
    (
        ("semaphore",),
        "microkit.notify_coroutine_wait",
        "notification there and back, waiting with the coroutine library",
        (*_NOTIFY, "client: library waits", "client: Recv returns", "client: library resumes"),
    ),
    (
        ("notify",),
        "microkit.notify",
        "notification there and back",
        (*_NOTIFY, "client: Recv", "client: Recv returns"),
    ),
)

_PASS = re.compile(r"\s*Pass #(\d{1,6}):\s*(-?\d{1,18}) cycles\s*")
_AVERAGE = re.compile(r"\s*Average:\s*(\d[\d.]{0,20}) cycles\s*")
_RUN = re.compile(r"\s*(Run \d+|Dry ?run\b[^:@]{0,60}?)\s*(?:@ ?([0-9a-f]{7,40}))?:\s*", re.I)
_TOTAL = re.compile(r"\s*\([\d +.]{1,2000}\) / (\d{1,6}) = (\d[\d.]{0,20}) cycles\s*")
_TOTAL_HEAD = re.compile(r"\s*\d+ runs? (?:avg|average):?\s*")
_MEAN = re.compile(r"\s*Mean:\s*(\d[\d.]{0,20})\s*")
_STDEV = re.compile(r"\s*Stdev = sqrt\((\d[\d.]{0,20})\)\s*")
_MACHINE = re.compile(r"benchmarks? ran on (\S{1,80})", re.I)
_BUILD = re.compile(r"\(([\w -]{1,40}) build\)")
_QUIET = re.compile(r"\s*(?:Result:|BENCHFINISHED)\s*")
_SEQUENCE_HEAD = re.compile(r"\s*Significant .{0,40}sequence:\s*", re.I)


def detect(head: bytes, _filename: str) -> int:
    if b"Pass #" in head and b" cycles" in head:
        return 95
    return 92 if b"Stdev = sqrt(" in head else 0


@dataclass
class _Reader:
    into: Collector
    clock: Clock
    title: str = ""
    sequence: list[str] = field(default_factory=list)
    in_sequence: bool = False
    run: int = -1
    passes: list[float] = field(default_factory=list)
    line: int = 0
    mean: float | None = None
    machine: str = ""

    def read(self, at: int, text: str) -> None:
        if match := _PASS.fullmatch(text):
            self._pass(int(match[1]), float(match[2]), at)
        elif match := _AVERAGE.fullmatch(text):
            self.end_run(number(match[1]), at)
        elif match := _TOTAL.fullmatch(text):
            self.end_run(None, at)
            self._add(
                Summary(0, mean=number(match[2]), extra={"runs": float(match[1])}), at, run=-1
            )
        elif match := _MEAN.fullmatch(text):
            self.mean = number(match[1])
        elif match := _STDEV.fullmatch(text):
            self._later_form(number(match[1]), at)
        elif match := _RUN.fullmatch(text):
            self.end_run(None, at)
            self._begin_run(match[1], match[2] or "")
        elif not _TOTAL_HEAD.fullmatch(text) and not _QUIET.fullmatch(text):
            self._other(at, text)

    def _begin_run(self, name: str, commit: str) -> None:
        self.run += 1
        self.in_sequence = False
        if commit or not name.lower().startswith("run"):
            named = {"circle": self.title, "run": self.run, "name": name.strip(), "commit": commit}
            self.into.environment.setdefault("named_runs", []).append(named)

    def _pass(self, index: int, value: float, at: int) -> None:
        if index == 0 and self.passes:
            self.end_run(None, at)
        if not self.passes:
            self.line = at
            self.run += self.run < 0
        if index != len(self.passes):
            self.into.problem(
                "damaged", f"pass {index} follows pass {len(self.passes) - 1}; some are missing", at
            )
        self.into.count_values(1)
        self.passes.append(value)

    def end_run(self, mean: float | None, at: int) -> None:
        if not self.passes and mean is None:
            return
        summary = None if mean is None else Summary(0, n=len(self.passes) or None, mean=mean)
        self._add(summary, self.line if self.passes else at, run=max(self.run, 0))
        self.passes = []

    def _later_form(self, variance: float | None, at: int) -> None:
        if self.mean is None or variance is None:
            self.into.problem("unread", "a standard deviation without a mean before it", at)
            return
        self.clock = self.into.settings.clock("PMCCNTR", "cycles")
        self._add(Summary(0, mean=self.mean, sd=variance**0.5), at, run=0)
        self.mean = None

    def _add(self, summary: Summary | None, at: int, run: int) -> None:
        build = _BUILD.search(self.title)
        self.into.figure(
            _contract(self.title or "unnamed", tuple(self.sequence)),
            self.clock,
            "reported"
            if self.clock.name == "PMCCNTR" or not (self.passes or run < 0)
            else "passes",
            line=at,
            name=self.title,
            configuration={"build": build[1]} if build else {},
            run=run,
            summary=summary,
            values=np.array(self.passes),
        )

    def _other(self, at: int, text: str) -> None:
        """A title, a step of the sequence before the passes, or nothing of interest."""
        if not text.strip():
            return
        if machine := _MACHINE.search(text):
            self.machine = machine[1]
        elif _SEQUENCE_HEAD.fullmatch(text):
            self.in_sequence, self.sequence = True, []
        elif self.in_sequence and text[:1].isspace():
            self.sequence.append(text.strip().rstrip(";")[:120])
        elif not text[:1].isspace():
            self.end_run(None, at)
            self.title, self.run = text.strip().rstrip(":")[:200], -1
            self.sequence, self.in_sequence = [], False
        elif re.search(r"\d cycles", text):
            self.into.unread(text, at)


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    reader = _Reader(into, settings.clock("thread utilisation", "cycles"))
    for at, text in foreign.lines():
        reader.read(at, text)
    reader.end_run(None, at)
    return into.finish(NAME, target=reader.machine)


def _contract(title: str, sequence: tuple[str, ...]) -> Contract:
    """The contract of a known validation; of another the sequence that its log states."""
    words = title.lower()
    for needed, key, known_title, known_sequence in _KNOWN:
        if all(word in words for word in needed):
            return Contract(key, known_title, known_sequence, _CLIENT, correction="none")
    return Contract(f"microkit.{slug(title)}", title, sequence, correction="unknown")
