# SPDX-License-Identifier: BSD-2-Clause
"""What the processor counted on both sides: more instructions, or the same ones slower."""

from __future__ import annotations

from dataclasses import dataclass

from cyclometer.bundle.model import Bundle
from cyclometer.estimate.hardware import COUNTERS, instructions_per_cycle, per_turn

_SAME = 0.01  # instructions that differ by less are called the same: proofs count few turns
_TELLING = 0.2  # of a cycle or more a turn, by which a count of misses must differ


@dataclass(frozen=True)
class Why:
    """One circle: each counter per turn on both sides, and a sentence."""

    key: str
    before: dict[str, float]
    after: dict[str, float]
    sentence: str


def shared(before: Bundle, after: Bundle) -> list[str]:
    """The circles of both bundles, in the order of the first."""
    keys = dict.fromkeys(row.contract.key for row in before.identity.rows)
    others = {row.contract.key for row in after.identity.rows}
    return [key for key in keys if key in others]


def why(before: Bundle, after: Bundle) -> list[Why]:
    """Every circle of both bundles whose proofs have the processor's counters."""
    found = []
    for key in shared(before, after):
        x, y = per_turn(before, key), per_turn(after, key)
        if x and y:
            found.append(Why(key, x, y, _sentence(x, y)))
    return found


def _sentence(x: dict[str, float], y: dict[str, float]) -> str:
    both = [name for name in COUNTERS if name in x and name in y]
    parts = []
    if {"instructions_user", "instructions_kernel"} <= set(both):
        n, m = (side["instructions_user"] + side["instructions_kernel"] for side in (x, y))
        if abs(m - n) <= _SAME * max(n, 1.0):
            parts.append("the same instructions")
        else:
            user, kernel = (
                y[name] - x[name] for name in ("instructions_user", "instructions_kernel")
            )
            parts.append(f"{m - n:+.0f} instructions ({user:+.0f} user, {kernel:+.0f} kernel)")
    before, after = instructions_per_cycle(x), instructions_per_cycle(y)
    if before is not None and after is not None:
        parts.append(f"IPC {before:.2f} to {after:.2f}")
    parts += [
        f"{y[name] - x[name]:+.2g} {name.replace('_', ' ')}"
        for name in both
        if name.endswith("misses") and abs(y[name] - x[name]) >= _TELLING
    ]
    return ", ".join(parts) or "no counter differs"
