# SPDX-License-Identifier: BSD-2-Clause
"""Two kernels as plain text for a mailing list: ASCII, at most 78 columns, no trailing blanks."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from cyclometer.compare.finding import Finding
from cyclometer.explain.difference import PartChange
from cyclometer.explain.kernels import CONFIG, KernelRow, Kernels
from cyclometer.report.documents import kernels
from cyclometer.report.documents.kernels import CarriedChange, ChangedFunction, KernelsCompared
from cyclometer.text import plain

WIDTH = 78
FUNCTIONS = 10
_OPTIONS = 8
_CALLS = 3  # inline in a function
_NOTHING = 1e-6  # instructions, below what the mean of any boot resolves
_COMPILER = f"{CONFIG}CC_VERSION_TEXT"
_MITIGATION = "build.mitigation."
_COMMAND_LINE = "build.command_line"
# Beginnings of the names of options that reach into most system calls, those first that change
# what a kernel is.
_WORTH_NAMING = (
    *("PREEMPT", "HZ$", "NO_HZ", "RT_GROUP", "CPU_", "MITIGATION", "RETPOLINE", "RETHUNK"),
    *("PAGE_TABLE_ISOL", "SPECULATION", "SLS", "CC_OPT", "LTO", "CFI", "STACKPROTECTOR", "INIT_"),
    *("RANDOMIZE_KSTACK", "HARDENED", "LIST_HARDENED", "DEBUG_LIST", "UBSAN", "KASAN", "KCSAN"),
    *("SECURITY", "AUDIT", "SECCOMP", "CGROUP", "MEMCG", "RSEQ", "FUTEX", "SCHED", "FTRACE"),
    *("FUNCTION_TRACER", "CONTEXT_TRACKING", "VMAP_STACK", "LOCKDEP", "DEBUG_", "IO_URING", "PSI"),
    *("NUMA", "SLAB", "SLUB", "X86_", "ARM64_", "RISCV_"),
)
# texts, and what follows from other options
_DULL = re.compile(
    r"DEBUG_INFO|CPU_(IDLE|FREQ)|SECURITY_\w+_(STRING|VALUE)|PREEMPT(ION|_\w*BUILD|_COUNT|_NOTIF)"
)
_NOT_BUILT_IN = frozenset(("absent", "n", "m"))


def text(found: KernelsCompared, command: Sequence[str]) -> str:
    """The whole mail; `command` is what made it."""
    lines = [*_head(found), "", *_table(found), *_carried(found)]
    lines += ["", *_surroundings(found), "", *_repeat(command)]
    return "".join(f"{_ascii(line)}\n" for line in lines)


def as_json(found: Kernels, timed: Mapping[str, Finding], boots: int) -> KernelsCompared:
    """The document that `text` prints; `timed` are verdicts in time by circle, `boots` is how often
    each kernel was started.
    """
    old, new = found.names
    rows = [_row(row, timed.get(row.key)) for row in found.rows]
    return KernelsCompared(old, new, boots, _environment(found), rows, found.options())


def _environment(found: Kernels) -> dict[str, tuple[str | None, str | None]]:
    """All that is known but the options of the configuration; of these its compiler."""
    old, new = found.facts
    names = {name for name in {*old, *new} if not name.startswith(CONFIG) or name == _COMPILER}
    return {name: (old.get(name), new.get(name)) for name in sorted(names)}


def _row(row: KernelRow, timed: Finding | None) -> kernels.KernelRow:
    counted, traced = bool(row.before and row.after), row.difference
    return kernels.KernelRow(
        key=row.key,
        old=list(row.before),
        new=list(row.after),
        counts=row.counts if counted else None,
        change=row.change if counted else None,
        share=row.share if counted else None,
        why=row.why,
        traced=(float(traced.before.length), float(traced.after.length)) if traced else None,
        explained=None if row.explained is None else float(row.explained),
        untraced=row.untraced,
        functions=[
            ChangedFunction(*_sides(one), inlined=_carriers(row.inlined.get(one.name, ())))
            for one in row.functions
        ],
        subsystems=_carriers(traced.subsystems if traced else ()),
        time=timed.change if timed else None,
        verdict=timed.verdict if timed else None,
    )


def _carriers(changes: Sequence[PartChange]) -> list[CarriedChange]:
    return [CarriedChange(*_sides(one)) for one in changes]


def _sides(one: PartChange) -> tuple[str, float, float, float]:
    return one.name, float(one.before), float(one.after), float(one.change)


def changed(found: KernelsCompared) -> list[kernels.KernelRow]:
    """Rows with another count, the largest change first."""
    rows = [row for row in found.rows if row.change]
    return sorted(rows, key=lambda row: -abs(row.share or row.change or 0.0))


def _ascii(line: str) -> str:
    return plain(line).encode("ascii", "replace").decode().rstrip()


def _head(found: KernelsCompared) -> Iterator[str]:
    yield "Instructions per turn, exact counts"
    known = found.environment
    releases = known.get("target_kernel", (None, None))
    added = _added_words(found) if found.old == found.new else ""
    sides = ("old", found.old, ""), ("new", found.new, f", {added}" if added else "")
    for (word, name, more), release in zip(sides, releases, strict=True):
        version = f" ({release})" if release and release not in name else ""
        yield f"  {word}: {name}{version}{more}"
    emulator, cpu, lacks = (
        known.get(name, (None, None))[1] for name in ("qemu", "cpu_model", "cpu_lacks")
    )
    emulator = re.sub(r"QEMU emulator version (\S+).*", r"QEMU \1", emulator or "QEMU")
    without = f" without {lacks}" if lacks else ""
    yield from textwrap.wrap(
        f"{emulator} (TCG, icount), CPU {cpu or 'unknown'}{without}, "
        f"{found.boots} boots per side; 'turn' is one iteration of a circle (benchmark)",
        WIDTH,
        initial_indent="  on: ",
        subsequent_indent="      ",
        break_on_hyphens=False,
    )


def _added_words(found: KernelsCompared) -> str:
    """What the new command line has behind the whole old one."""
    old, new = (value or "" for value in found.environment.get(_COMMAND_LINE, (None, None)))
    return new.removeprefix(f"{old} ") if new.startswith(f"{old} ") else ""


def _table(found: KernelsCompared) -> Iterator[str]:
    shown = changed(found)
    wide = max([6, *(len(row.key) for row in shown)])
    heads = f"{'circle':{wide}} {'old':>9} {'new':>9} {'instructions':>20}"
    if shown:
        yield heads
    for row in shown:
        old, new = (_count(n) for n in row.counts or ())
        yield f"{row.key:{wide}} {old:>9} {new:>9} {_change(row):>20}"
        yield from (f"    {note}" for note in _notes(row))
    unchanged = [row for row in found.rows if row.change == 0]
    if same := [row.key for row in unchanged if not row.key.startswith("floor.")]:
        yield from _wrapped("unchanged: ", same)
    for row in unchanged:
        if row.time is not None:
            yield from (f"    {row.key}: {note}" for note in _notes(row))
    for why in dict.fromkeys(row.why for row in found.rows if row.why):
        keys = [row.key for row in found.rows if row.why == why]
        said = f"{', '.join(keys)}: {why}"
        yield from textwrap.wrap(said, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _change(row: kernels.KernelRow) -> str:
    """The signed count, and what share of the old one it is."""
    share = f" ({100 * row.share:+.2f} %)" if row.share is not None else ""
    return f"{_count(row.change or 0.0, True)}{share}"


def _count(value: float, signed: bool = False) -> str:
    plain = round(value, 2)
    figure = f"{plain:+.2f}" if signed else f"{plain:.2f}"
    return figure.rstrip("0").rstrip(".")


def _notes(row: kernels.KernelRow) -> Iterator[str]:
    """What a reader must know about the figures of a row."""
    for word, counts in (("old", row.old), ("new", row.new)):
        if max(counts) != min(counts):
            yield f"{word}: boots differ, {_count(min(counts))} to {_count(max(counts))}"
            if any(count % 1 for count in counts):
                yield "  a count that is not whole: in that boot the kernel's state changed"
                yield "  between tests, and no turn takes as many; whole ones go before it"
    if row.traced and abs((row.explained or 0.0) - (row.change or 0.0)) > _NOTHING:
        old, new = map(_count, row.traced)
        means = any(count % 1 for count in row.counts or ())
        why = "counts are means of unlike turns" if means else "none as long as counted was traced"
        yield f"traced turns: {old} -> {new}; {why}"
    if row.time is None:
        return
    yield f"time: {100 * row.time:+.1f} % ({row.verdict})"
    if _disagree(row):
        yield "WARNING: instructions and time disagree"


def _disagree(row: kernels.KernelRow) -> bool:
    """Whether time moved and the count did not, or the other way."""
    moved = {"regressed": 1, "improved": -1}.get(row.verdict or "", 0)
    change = row.change or 0.0
    return moved not in (0, (change > 0) - (change < 0))


def _carried(found: KernelsCompared) -> Iterator[str]:
    """The functions behind each change; rows that the same functions carry stand together."""
    groups: dict[tuple[tuple[str, float], ...], list[kernels.KernelRow]] = {}
    for row in changed(found):
        largest = tuple((one.name, one.change) for one in row.functions[:FUNCTIONS])
        groups.setdefault(largest or ((row.untraced, 0.0),), []).append(row)
    for members in groups.values():
        yield ""
        for row in members:
            yield f"{row.key}: {_change(row)}"
        yield from _functions(members[0])


def _functions(row: kernels.KernelRow) -> Iterator[str]:
    if row.traced is None:
        yield from textwrap.wrap(
            f"no functions: {row.untraced or 'not traced'}",
            WIDTH,
            initial_indent="    ",
            subsequent_indent="    ",
        )
        return
    shown, rest = row.functions[:FUNCTIONS], row.functions[FUNCTIONS:]
    if rest:
        yield from _subsystems(row)
    for one in shown:
        yield from _function(one)
        for call in one.inlined[:_CALLS]:
            yield f"{'':12}{_count(call.change, True)} in {call.name}, inline"[:WIDTH]
    if rest:
        total = sum(one.change for one in rest)
        yield f"  {_count(total, True):>8}  {len(rest)} more function{'s' if len(rest) > 1 else ''}"


def _subsystems(row: kernels.KernelRow) -> Iterator[str]:
    """Where the whole change is, which more functions carry than are named."""
    words = [f"{one.name} {_count(one.change, True)}" for one in row.subsystems if one.change]
    yield from _wrapped("    by subsystem: ", words) if words else ()


def _function(one: ChangedFunction) -> Iterator[str]:
    sides = f" ({_count(one.before)} -> {_count(one.after)})"
    line = f"  {_count(one.change, True):>8}  {one.name}"
    if len(line) + len(sides) <= WIDTH:
        yield line + sides
        return
    old, arrow, new = one.name.partition(" -> ")
    yield f"  {_count(one.change, True):>8}  {old}"[:WIDTH]
    yield f"{'':12}{'-> ' if arrow else ''}{new}{sides}"[:WIDTH]


def _surroundings(found: KernelsCompared) -> Iterator[str]:
    """What differs in source, compiler and configuration, and how the machine runs the kernels."""
    yield "What differs:"
    named = (
        ("source", "build.banner", _source),
        ("compiler", _COMPILER, _compiler),
        ("command line", _COMMAND_LINE, _unquoted),
        ("CPU model", "cpu_model", _unquoted),
    )
    for word, name, said in named:
        a, b = (said(value or "unknown") for value in found.environment.get(name, (None, None)))
        pair = f"{a} -> {b}" if a != b else f"{a} (both)"
        if name == _COMMAND_LINE and (added := _added_words(found)):
            pair = f"{a} (both), new adds {added}"
        yield from _wrapped(f"  {word}: ", [pair])
    for name, values in found.environment.items():
        a, b = (value or "not known there" for value in values)
        # a newer kernel knows of more that does not concern the processor
        if (
            name.startswith(_MITIGATION)
            and a != b
            and {a, b} != {"not known there", "Not affected"}
        ):
            yield from _wrapped(f"  mitigation {name.removeprefix(_MITIGATION)}: ", [f"{a} -> {b}"])
    yield from _configuration(found.options)


def _configuration(options: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """The options that are worth most, and how many more there are; modules apart, for what can
    only be loaded is seldom in the path of a circle.
    """
    if not options:
        yield "  configuration: no difference known"
        return
    ranks = {name: rank for name in options if (rank := _rank(name)) is not None}
    shown = sorted(ranks, key=lambda name: (ranks[name], name))[:_OPTIONS]
    rest = options.keys() - shown
    modules = sum(_NOT_BUILT_IN.issuperset(options[name]) for name in rest)
    more = [(len(rest) - modules, "more option"), (modules, "more module")]
    words = [f"{name} {options[name][0]} -> {options[name][1]}" for name in shown]
    words += [f"{count} {word}{'s' if count > 1 else ''}" for count, word in more if count]
    yield from _wrapped("  configuration: ", words)


def _rank(option: str) -> int | None:
    """The place of an option among those worth naming; None if it is not."""
    if _DULL.match(option):
        return None
    return next((at for at, word in enumerate(_WORTH_NAMING) if re.match(word, option)), None)


def _source(banner: str) -> str:
    match = re.match(r"Linux version (\S+)", banner)
    return match[1] if match else banner


def _compiler(value: str) -> str:
    """Without the prefix by which a cross compiler is called: it is the same one."""
    return re.sub(r"^[\w-]+-(?=gcc|clang)", "", _unquoted(value))


def _unquoted(value: str) -> str:
    return value.strip('"')


def _wrapped(head: str, words: Sequence[str]) -> list[str]:
    return textwrap.wrap(
        ", ".join(words),
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * min(len(head), 4),
        break_on_hyphens=False,
    )


def _repeat(command: Sequence[str]) -> Iterator[str]:
    """The command as one line of a shell, folded where it is longer than the mail is wide."""
    yield "Repeat:"
    line = " "
    for word in map(shlex.quote, command):
        if len(line) + len(word) + 3 > WIDTH and line.strip():
            yield f"{line} \\"
            line = "   "
        line = f"{line} {word}"
    yield line
