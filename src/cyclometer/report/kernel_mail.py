# SPDX-License-Identifier: BSD-2-Clause
"""Two kernels as plain text for a mailing list: ASCII, at most 78 columns, no trailing blanks."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from cyclometer.compare.finding import Finding
from cyclometer.explain.difference import Difference, PartChange
from cyclometer.explain.kernels import KernelRow, Kernels
from cyclometer.report import documents
from cyclometer.text import plain

WIDTH = 78
FUNCTIONS = 10
_OPTIONS = 8
_CALLS = 3  # inline in a function
# options that reach into most system calls, by the beginning of their names
_WORTH_NAMING = re.compile(
    r"(?!DEBUG_INFO|CPU_(IDLE|FREQ)|SECURITY_\w+_STRING)"
    r"(PREEMPT|HZ$|NO_HZ|CPU_|MITIGATION|RETPOLINE|RETHUNK|PAGE_TABLE_ISOL|SPECULATION|SLS|CC_OPT|"
    r"LTO|CFI|STACKPROTECTOR|INIT_|RANDOMIZE_KSTACK|HARDENED|LIST_HARDENED|DEBUG_LIST|UBSAN|KASAN|"
    r"KCSAN|SECURITY|AUDIT|SECCOMP|CGROUP|MEMCG|RSEQ|FUTEX|SCHED|FTRACE|FUNCTION_TRACER|"
    r"CONTEXT_TRACKING|VMAP_STACK|LOCKDEP|DEBUG_|IO_URING|PSI|NUMA|SLAB|SLUB|X86_|ARM64_|RISCV_)"
)


def text(
    found: Kernels,
    command: Sequence[str],
    timed: Mapping[str, Finding] | None = None,
    boots: int = 0,
) -> str:
    """The whole mail."""
    lines = [*_head(found, boots), "", *_table(found, timed or {}), *_carried(found)]
    lines += ["", *_surroundings(found), "", *_repeat(command)]
    return "".join(f"{_ascii(line)}\n" for line in lines)


def as_json(found: Kernels, timed: Mapping[str, Finding]) -> documents.KernelsCompared:
    """The same as numbers, all functions included."""
    old, new = found.names
    rows = [_row(row, timed.get(row.key)) for row in found.rows]
    return documents.KernelsCompared(old, new, rows, found.options())


def _row(row: KernelRow, timed: Finding | None) -> documents.KernelRow:
    counted = bool(row.before and row.after)
    return documents.KernelRow(
        key=row.key,
        old=list(row.before),
        new=list(row.after),
        change=row.change if counted else None,
        share=row.share if counted else None,
        why=row.why,
        explained=None if row.explained is None else float(row.explained),
        functions=_carriers(row.functions),
        subsystems=_carriers(row.difference.subsystems if row.difference else ()),
        time=timed.change if timed else None,
        verdict=timed.verdict if timed else None,
    )


def _carriers(changes: Sequence[PartChange]) -> list[documents.CarriedChange]:
    return [
        documents.CarriedChange(c.name, float(c.before), float(c.after), float(c.change))
        for c in changes
    ]


def _ascii(line: str) -> str:
    return plain(line).encode("ascii", "replace").decode().rstrip()


def _head(found: Kernels, boots: int) -> Iterator[str]:
    yield "Instructions per turn, exact counts"
    for word, name, facts in zip(("old", "new"), found.names, found.facts, strict=True):
        release = facts.get("target_kernel", "")
        yield f"  {word}: {name}" + (f" ({release})" if release and release not in name else "")
    facts = found.facts[1]
    emulator = re.sub(r"QEMU emulator version (\S+).*", r"QEMU \1", facts.get("qemu", "QEMU"))
    lacks = f" without {facts['cpu_lacks']}" if "cpu_lacks" in facts else ""
    yield from textwrap.wrap(
        f"{emulator} (TCG, icount), CPU {facts.get('cpu_model', 'unknown')}{lacks}, "
        f"{boots} boots per side; 'turn' is one iteration of a circle (benchmark)",
        WIDTH,
        initial_indent="  on: ",
        subsequent_indent="      ",
        break_on_hyphens=False,
    )


def _table(found: Kernels, timed: Mapping[str, Finding]) -> Iterator[str]:
    shown = found.changed()
    wide = max([6, *(len(row.key) for row in shown)])
    heads = f"{'circle':{wide}} {'old':>9} {'new':>9} {'instructions':>20}"
    if shown:
        yield heads
    for row in shown:
        old, new = (_count(n) for n in row.counts)
        yield f"{row.key:{wide}} {old:>9} {new:>9} {change(row):>20}"
        yield from (f"    {note}" for note in _notes(row, timed.get(row.key)))
    same = [
        row.key
        for row in found.rows
        if not row.why and not row.change and not row.key.startswith("floor.")
    ]
    if same:
        yield from _wrapped("unchanged: ", same)
    for row in found.rows:
        if not row.why and not row.change and row.key in timed:
            yield from (f"    {row.key}: {note}" for note in _notes(row, timed[row.key]))
    for why in dict.fromkeys(row.why for row in found.rows if row.why):
        keys = [row.key for row in found.rows if row.why == why]
        said = f"{', '.join(keys)}: {why}"
        yield from textwrap.wrap(said, WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def change(row: KernelRow) -> str:
    """The signed count, and what share of the old one it is."""
    share = f" ({100 * row.share:+.2f} %)" if row.share is not None else ""
    return f"{_count(row.change, True)}{share}"


def _count(value: float, signed: bool = False) -> str:
    plain = round(value, 2)
    figure = f"{plain:+.2f}" if signed else f"{plain:.2f}"
    return figure.rstrip("0").rstrip(".")


def _notes(row: KernelRow, timed: Finding | None) -> Iterator[str]:
    """What a reader must know about the figures of a row."""
    for word, counts in (("old", row.before), ("new", row.after)):
        if max(counts) != min(counts):
            yield f"{word}: boots differ, {_count(min(counts))} to {_count(max(counts))}"
            if any(count % 1 for count in counts):
                yield "  a count that is not whole: in that boot the kernel's state changed"
                yield "  between tests, and no turn takes as many; whole ones go before it"
    if row.difference and row.explained != Fraction(row.change).limit_denominator(10**6):
        old, new = (_count(float(e.length)) for e in (row.difference.before, row.difference.after))
        means = any(count % 1 for count in row.counts)
        why = "counts are means of unlike turns" if means else "none as long as counted was traced"
        yield f"traced turns: {old} -> {new}; {why}"
    if timed is None or timed.change is None:
        return
    yield f"time: {100 * timed.change:+.1f} % ({timed.verdict})"
    if _disagree(row, timed):
        yield "WARNING: instructions and time disagree"


def _disagree(row: KernelRow, timed: Finding) -> bool:
    """Whether time moved and the count did not, or the other way."""
    moved = {"regressed": 1, "improved": -1}.get(timed.verdict, 0)
    counted = (row.change > 0) - (row.change < 0)
    return moved not in (0, counted)


def _carried(found: Kernels) -> Iterator[str]:
    """The functions behind each change; rows that the same functions carry stand together."""
    groups: dict[tuple[tuple[str, Fraction], ...], list[KernelRow]] = {}
    for row in found.changed():
        largest = tuple((c.name, c.change) for c in row.functions[:FUNCTIONS])
        groups.setdefault(largest or ((row.untraced, Fraction(0)),), []).append(row)
    for members in groups.values():
        yield ""
        for row in members:
            yield f"{row.key}: {change(row)}"
        yield from _functions(members[0])


def _functions(row: KernelRow) -> Iterator[str]:
    if row.difference is None:
        yield from textwrap.wrap(
            f"no functions: {row.untraced or 'not traced'}",
            WIDTH,
            initial_indent="    ",
            subsequent_indent="    ",
        )
        return
    shown, rest = row.functions[:FUNCTIONS], row.functions[FUNCTIONS:]
    if rest:
        yield from _subsystems(row.difference)
    for one in shown:
        yield from _function(one)
        for call in row.inlined.get(one.name, ())[:_CALLS]:
            yield f"{'':12}{_count(float(call.change), True)} in {call.name}, inline"[:WIDTH]
    if rest:
        total = sum((one.change for one in rest), Fraction(0))
        yield f"  {_count(float(total), True):>8}  {len(rest)} more functions"


def _subsystems(found: Difference) -> Iterator[str]:
    """Where the whole change is, which more functions carry than are named."""
    changed = [one for one in found.subsystems if one.change]
    words = [f"{one.name} {_count(float(one.change), True)}" for one in changed]
    yield from _wrapped("    by subsystem: ", words) if words else ()


def _function(one: PartChange) -> Iterator[str]:
    sides = f" ({_count(float(one.before))} -> {_count(float(one.after))})"
    line = f"  {_count(float(one.change), True):>8}  {one.name}"
    if len(line) + len(sides) <= WIDTH:
        yield line + sides
        return
    old, arrow, new = one.name.partition(" -> ")
    yield f"  {_count(float(one.change), True):>8}  {old}"[:WIDTH]
    yield f"{'':12}{'-> ' if arrow else ''}{new}{sides}"[:WIDTH]


def _surroundings(found: Kernels) -> Iterator[str]:
    """What differs in source, compiler and configuration, and how the machine runs the kernels."""
    yield "What differs:"
    old, new = found.facts
    named = (
        ("source", "build.banner", _source),
        ("compiler", "config.CONFIG_CC_VERSION_TEXT", _compiler),
        ("command line", "build.command_line", _unquoted),
        ("CPU model", "cpu_model", _unquoted),
    )
    for word, name, said in named:
        a, b = said(old.get(name, "unknown")), said(new.get(name, "unknown"))
        yield from _wrapped(f"  {word}: ", [f"{a} -> {b}" if a != b else f"{a} (both)"])
    for name in sorted({n for n in {*old, *new} if n.startswith("build.mitigation.")}):
        if old.get(name) != new.get(name):
            short = name.removeprefix("build.mitigation.")
            values = f"{old.get(name, 'unknown')} -> {new.get(name, 'unknown')}"
            yield from _wrapped(f"  mitigation {short}: ", [values])
    options = found.options()
    chosen = [name for name in options if _WORTH_NAMING.match(name)]
    shown = [f"{name} {options[name][0]} -> {options[name][1]}" for name in chosen[:_OPTIONS]]
    more = len(options) - len(shown)
    if shown or more:
        tail = [f"{more} more options"] if more else []
        yield from _wrapped("  configuration: ", [*shown, *tail])
    else:
        yield "  configuration: no difference known"


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
