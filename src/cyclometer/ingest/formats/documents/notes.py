# SPDX-License-Identifier: BSD-2-Clause
"""Notes in free text as the Composite project kept them: bullets with pairs of cycles and
microseconds.

A figure that a rule below knows gets its key; otherwise the first of a bullet becomes a row named
by the bullet's words, and what else stands there (sums, differences) is reported as not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from cyclometer.bundle.model import Contract, Span, Summary
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.reading import Foreign

NAME = "notes"
DESCRIPTION = "notes in free text with pairs of cycles and microseconds, as Composite's"

_ROUND_TRIP = Span("round_trip", "caller: before", "caller: after")
_UNKNOWN = Span()


@dataclass(frozen=True)
class _Rule:
    words: str  # pattern of the clause in which the figure stands
    key: str
    title: str
    interval: Span = _UNKNOWN
    expect: dict[str, int] = field(default_factory=dict)


# First match wins, so the narrower stand first. What each operation does is in the field notes on
# Composite.
_RULES = (
    _Rule(r"level crossing", "hardware.crossing.one", "user to kernel and back", _ROUND_TRIP),
    _Rule(r"level bounces", "hardware.crossing.two", "call and return, two crossings", _ROUND_TRIP),
    _Rule(
        r"\b(?:2|two) writes to cr3",
        "hardware.crossing.two.satp_2.flush",
        "call and return, a write each way",
    ),
    _Rule(r"write to cr3", "hardware.crossing.two.satp_1.flush", "call and return, one write"),
    _Rule(
        r"gettimeofday|same syscall",
        "syscall.gettimeofday.null",
        "gettimeofday(NULL, NULL)",
        _ROUND_TRIP,
    ),
    _Rule(r"sched_yield.*threads", "thread.yield.same", "sched_yield between two threads"),
    _Rule(r"sched_yield", "thread.yield.cross", "sched_yield between two processes"),
    _Rule(r"\bpipes\b", "pipe.ipc.cross", "message through pipes between two processes"),
    _Rule(
        r"sigusr1|on fedora", "signal.self.kill", "signal to the own process, handled", _ROUND_TRIP
    ),
    _Rule(r"futex", "futex_lock.uncontended", "futex lock and unlock, uncontended", _ROUND_TRIP),
    _Rule(r"\brdtsc\b", "clock.read", "reading the clock"),
    _Rule(
        r"brand_next_thread", "brand.upcall.immediate.decide", "deciding that the upcall runs now"
    ),
    _Rule(
        r"brand_execution_completion", "brand.upcall.immediate.complete", "completion of the upcall"
    ),
    _Rule(
        r"with accounting",
        "scheduler.switch.run_queue.accounted",
        "thread switch by the scheduler, accounted",
    ),
    _Rule(r"without accounting", "scheduler.switch.bare", "thread switch, kernel mechanism alone"),
    _Rule(
        r"those overheads.*thread switch",
        "scheduler.switch.run_queue",
        "thread switch with scheduler structures",
    ),
    _Rule(r"ultimately delayed", "brand.upcall.delayed", "brand whose upcall is less urgent"),
    _Rule(
        r"active upcall|pending count", "brand.upcall.pend", "brand whose upcall is active already"
    ),
    _Rule(
        r"immediate brand",
        "brand.upcall.immediate",
        "brand that runs its upcall at once, and back",
        _ROUND_TRIP,
    ),
    _Rule(r"pending upcall", "brand.execute_pending", "executing a pending upcall"),
    _Rule(
        r"run the upcall now or later|upcall now",
        "brand.upcall.mediated.run_now",
        "brand decided by the scheduler: runs now",
    ),
    _Rule(
        r"lesser priority",
        "brand.upcall.mediated.declined",
        "brand decided by the scheduler: declined",
    ),
    _Rule(r"scheduler lock", "scheduler.lock.uncontended", "scheduler lock, uncontended"),
    _Rule(
        r"\bipc takes", "component.invoke", "component invocation by thread migration", _ROUND_TRIP
    ),
)
_SYSTEMS = (("vanilla", r"vanilla|first linux"), ("redhat", r"red ?hat|centos|fedora"))

_N = r"(?:\d{1,9}(?:\.\d{1,6})?|\.\d{1,6})"
_FIGURE = re.compile(
    rf"(?P<us_first>(?<![\w.]){_N}) microseconds? (?:or |\()(?P<cyc_second>{_N}) cycles\)?"
    rf"|(?P<low>(?<![\w.]){_N})-(?P<high>{_N}) cycles"
    rf"|(?P<cyc>(?<![\w.]){_N})(?: cycles)?,? or (?P<us>{_N}) microseconds?"
    rf"|(?P<only>(?<![\w.]){_N}) cycles"
    rf"|(?<=\bis )(?P<bare>\d{{2,9}})(?=[.,]|$)"
    rf"|(?<=\. )(?P<other>\d{{2,9}})(?= on \w)"
)
_SECTION = re.compile(r"([A-Z][A-Z0-9 ]{2,60}):")
_BULLET = re.compile(r"\s{0,4}[-+] +(\S.*)")
_MAX_BULLET = 2_000
_MAX_BULLET_FIGURES = 40


def detect(head: bytes, _filename: str) -> int:
    pairs = re.findall(rb"\d\s+cycles[,\s]+or\s+[\d.]+\s+microseconds", head)
    return 60 if len(pairs) >= 2 else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    seen: set[tuple[str, str]] = set()
    for at, text in _bullets(foreign):
        _read_bullet(into, text, at, seen)
    return into.finish(NAME)


def _bullets(foreign: Foreign) -> Iterator[tuple[int, str]]:
    """(first line, text in one line) of every bullet; a blank line, a footnote or a heading ends
    one.
    """
    start, words = 0, list[str]()
    for at, line in foreign.lines():
        bullet = _BULLET.fullmatch(line)
        if (
            bullet
            or not line.strip()
            or line.lstrip().startswith("*")
            or _SECTION.fullmatch(line.strip())
        ):
            if words:
                yield start, " ".join(" ".join(words).split())[:_MAX_BULLET]
            start, words = at, [bullet[1]] if bullet else []
        elif words and len(words) < _MAX_BULLET:
            words.append(line)
    if words:
        yield start, " ".join(" ".join(words).split())[:_MAX_BULLET]


def _read_bullet(into: Collector, text: str, at: int, seen: set[tuple[str, str]]) -> None:
    figures = list(islice(_FIGURE.finditer(text), _MAX_BULLET_FIGURES))
    system = ""
    for index, figure in enumerate(figures):
        after = figures[index + 1].start() if index + 1 < len(figures) else len(text)
        clause = _clause(text, figures[index - 1].end() if index else 0, figure, after)
        system = next((name for name, words in _SYSTEMS if re.search(words, clause, re.I)), "")
        rule = next((rule for rule in _RULES if re.search(rule.words, clause, re.I)), None)
        if rule and (rule.key, system) not in seen:
            seen.add((rule.key, system))
            contract = Contract(
                rule.key, rule.title, (), rule.interval, rule.expect, correction="unknown"
            )
            _add(into, contract, figure, system, at)
        elif index == 0 and not rule:
            name = " ".join(text[: figure.start()].split()[:8]) or text[figure.end() :][:80]
            _add(
                into,
                Contract(f"notes.{slug(name)}", text[:120], correction="unknown"),
                figure,
                system,
                at,
            )
        else:
            into.unread(clause, at)


def _clause(text: str, previous: int, figure: re.Match[str], following: int) -> str:
    """The figure with the words of its own sentence, up to its neighbours; the subject may stand at
    the beginning.
    """
    begin = max(
        previous,
        *(m.end() for m in re.finditer(r"[.;)] (?=[A-Z\d])", text[: figure.start() + 1])),
        0,
    )
    end = re.search(r"[.;)](?: |$)", text[figure.end() : following])
    clause = text[begin : figure.end() + end.start() if end else following]
    return clause if begin or not previous else f"{text[:previous]} {clause}"


def _add(into: Collector, contract: Contract, figure: re.Match[str], system: str, at: int) -> None:
    cycles = number(
        next(
            (
                figure[name]
                for name in ("cyc", "cyc_second", "only", "bare", "other")
                if figure[name]
            ),
            "",
        )
    )
    us = number(figure["us"] or figure["us_first"] or "")
    into.figure(
        contract,
        into.settings.clock("time-stamp counter", "cycles"),
        line=at,
        name=figure[0],
        configuration={"linux": system} if system else {},
        summary=Summary(
            0,
            mean=cycles,
            minimum=number(figure["low"] or ""),
            maximum=number(figure["high"] or ""),
            extra={} if us is None else {"us": us},
        ),
    )
