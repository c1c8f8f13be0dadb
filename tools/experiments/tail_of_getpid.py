# SPDX-License-Identifier: BSD-2-Clause
"""What the tail of a null system call is made of on arm64, whose kernels move their stack at each
call: how often a turn differs, and what it executes beyond the common one.

Two boots per kernel, and a third where its symbols are not known yet.
"""

from __future__ import annotations

from fractions import Fraction

import board

from cyclometer.explain.sources import trace
from cyclometer.explain.tail import FLOW, Tail, tail
from cyclometer.report import explained
from cyclometer.report.explanation import number
from cyclometer.report.tail import often
from cyclometer.targets.api import Request
from cyclometer.targets.qemu_linux.target import QemuLinuxTarget

KEY = "syscall.null"
KERNELS = (
    "debian:linux-image-6.1.0-*-cloud-arm64",
    "debian:linux-image-6.12*-cloud-arm64",
    "debian@trixie:linux-image-*-cloud-arm64",  # the newest, out of backports
)
APPEND = "randomize_kstack_offset=on"  # as the kernels are shipped


def turns(kernel: str) -> Tail:
    """As `cyclometer explain --tail --kernel KERNEL --append ... KEY` explains them."""
    request = Request(only=(KEY,), config={"kernel": kernel, "append": APPEND}, flow=FLOW)
    return tail(trace(QemuLinuxTarget(), request, [KEY], steady_only=True)[KEY]["steady"])


def line(found: Tail) -> tuple[str, ...]:
    """The common turn, the one that differs, how often it comes, and the mean over all."""
    whole = found.difference.whole
    mean = Fraction(sum(found.lengths), len(found.lengths) * found.each)
    how_often = often(explained.tail(found)) if found.at else "never"
    figures = (number(whole.before), number(whole.after), how_often)
    return name(found), *figures, f"{float(mean):.1f}"


def name(found: Tail) -> str:
    return found.difference.before.facts.configuration["kernel"]


def carried(tails: list[Tail]) -> str:
    """What each function adds to the turn that differs, the largest of any kernel first."""
    added = [{c.name: c.change for c in found.difference.functions} for found in tails]
    names = {n for one in added for n, change in one.items() if change}
    order = sorted(names, key=lambda n: (-max(abs(one.get(n, 0)) for one in added), n))
    rows = [(f"`{n}`", *(number(Fraction(one.get(n, 0))) for one in added)) for n in order]
    rows.append(("sum", *(number(found.difference.whole.change) for found in tails)))
    return board.table(("function", *map(name, tails)), rows)


if __name__ == "__main__":
    tails = [turns(kernel) for kernel in KERNELS]
    header = ("kernel", "common turn", "differs", "how often", "mean")
    board.write(
        "tail-of-getpid.md", turns=board.table(header, map(line, tails)), functions=carried(tails)
    )
