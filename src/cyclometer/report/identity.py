# SPDX-License-Identifier: BSD-2-Clause
"""What two measured systems state differently about themselves, and which of it can have changed
what was counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

Difference = tuple[str, str, str]  # name, before, after; empty where a side does not state it

_CONFIG = "config."
_MOST = 12  # differences listed one by one
_MOST_OPTIONS = 8
_COMPILER = re.compile(r"(?:gcc|clang)[^()]*(?:\([^()]*\))?[^(),]*")
# Options that steer the path of a system call or a switch; they are named first.
_WORTH_NAMING = re.compile(
    r"CONFIG_(PREEMPT|HZ|NO_HZ|DEBUG_LIST|DEBUG_LOCK|LOCKDEP|KASAN|INIT_ON|RANDOMIZE|RANDOM_KMALLOC|FORTIFY|HARDENED|"
    r"SCHED_|CGROUP|MEMCG|MITIGATION|RETPOLINE|SECURITY_|LSM|PSI|AUDIT|SLUB|SLAB|RSEQ|RCU)"
)


def differences(
    before: Mapping[str, str] | None, after: Mapping[str, str] | None
) -> list[Difference]:
    """All that the two environments state differently, by name."""
    x, y = before or {}, after or {}
    return [
        (n, x.get(n, ""), y.get(n, "")) for n in sorted({*x, *y}) if x.get(n, "") != y.get(n, "")
    ]


def sentences(found: Sequence[Difference], units: Iterable[str]) -> list[str]:
    """A line a difference, as far as a reader will follow; a kernel's options summed up; `units`
    are the clocks'.
    """
    options = [d for d in found if d[0].startswith(_CONFIG)]
    others = [
        f"{name} was {x or _absent(name)}, is {y or _absent(name)}"
        for name, x, y in found
        if not name.startswith(_CONFIG)
    ]
    lines = others[:_MOST]
    if len(others) > _MOST:
        lines.append(
            f"and {len(others) - _MOST} more differences of the environment (--json lists them)"
        )
    if options:
        lines.append(_summed_up(options))
    if found and set(units) == {"instructions"} and (causes := _causes(found, options)):
        lines.append(f"code placement cannot change instruction counts; possible causes: {causes}")
    return lines


def _absent(name: str) -> str:
    """What stands for a fact that a side does not state; of `ab` sides state all there is."""
    return "none" if name.startswith("ab.") else "unknown"


def _summed_up(options: Sequence[Difference]) -> str:
    ranked = sorted(options, key=lambda d: (_WORTH_NAMING.search(d[0]) is None, "" in d[1:], d[0]))
    named = [
        f"{name.removeprefix(_CONFIG)} {x or '-'} to {y or '-'}"
        for name, x, y in ranked[:_MOST_OPTIONS]
    ]
    more = (
        f", and {len(options) - len(named)} more (--json lists them)"
        if len(options) > len(named)
        else ""
    )
    return f"{len(options)} of the kernel configuration's options differ: {', '.join(named)}{more}"


def _causes(found: Sequence[Difference], options: Sequence[Difference]) -> str:
    """Which of source, configuration, compiler, mitigations and command line differ; what is alike
    is said, too.
    """
    by_name = {name: (x, y) for name, x, y in found}
    x, y = by_name.get("build.banner", ("", ""))
    if not x or not y:
        return ""
    compilers = [_compiler(banner) for banner in (x, y)]
    parts = [
        f"the source ({_release(x)} to {_release(y)})"
        if _release(x) != _release(y)
        else "the source"
    ]
    if options:
        parts.append(f"the configuration ({len(options)} option{'s' if len(options) > 1 else ''})")
    if compilers[0] != compilers[1]:
        parts.append(f"the compiler ({compilers[0]} to {compilers[1]})")
    if any(name.startswith("build.mitigation.") for name in by_name):
        parts.append("mitigations")
    if "build.command_line" in by_name:
        parts.append("the command line")
    same = " (the compiler is the same)" if compilers[0] == compilers[1] else ""
    return ", ".join(parts) + same


def _release(banner: str) -> str:
    """The version in "Linux version 6.1.0-56-cloud-amd64 (...)"."""
    return banner.removeprefix("Linux version ").split(" ", 1)[0]


def _compiler(banner: str) -> str:
    """The compiler that a kernel's banner names; empty where it names none that we know."""
    named = _COMPILER.search(banner)
    return named[0].strip() if named else ""
