# SPDX-License-Identifier: BSD-2-Clause
"""What samples of a circle say: by function, with what chance leaves open.

A function's share of n samples is binomial; its interval is Jeffreys' (L. D. Brown, T. T. Cai,
A. DasGupta, Interval estimation for a binomial proportion, Statistical Science 16, 2001).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from scipy import special

from cyclometer.estimate.interval import Interval
from cyclometer.record.profile import Profile

UNSEEN = "[unseen]"
LEVELS = ("user", "kernel", "unseen")


@dataclass(frozen=True)
class LatencyShare:
    """A part of the measured latency: `value` in the clock's unit per turn."""

    name: str
    level: str
    samples: int
    share: float
    interval: Interval  # of the share
    value: float


@dataclass(frozen=True)
class ShareChange:
    """How much longer a function takes after than before, in the clock's unit per turn."""

    name: str
    before: float
    after: float
    change: Interval


@dataclass(frozen=True)
class LatencyShares:
    """All parts of a latency; functions sum to it, and so do levels."""

    profile: Profile
    samples: int  # those that came and those that should have come
    functions: tuple[LatencyShare, ...]  # by the innermost function, the largest first
    # by every function that is open; they sum to more than the whole
    inclusive: tuple[LatencyShare, ...]
    levels: tuple[LatencyShare, ...]


def shares(profile: Profile, level: float = 0.95) -> LatencyShares:
    """The profile by function and by level. Values are in the clock's unit per turn; shares are
    fractions of the latency, with intervals of confidence `level`.

    Unseen is what samples should have shown and did not: the CPU was not the machine's, or not the
    circle's. It is known for events that tick with time only.
    """
    unseen = max(0, round((profile.expected or 0) - profile.seen))
    total = profile.seen + unseen
    inner: Counter[tuple[str, str]] = Counter()
    open_at: Counter[tuple[str, str]] = Counter()
    by_level: Counter[str] = Counter({"unseen": unseen} if unseen else {})
    for stack in profile.stacks:
        inner[stack.frames[-1], stack.level] += stack.count
        by_level[stack.level] += stack.count
        for place, name in enumerate(stack.frames):
            if name not in stack.frames[:place]:  # a function that calls itself counts once
                open_at[name, "kernel" if place else "user"] += stack.count
    if unseen:
        inner[UNSEEN, "unseen"] = unseen

    def part(name: str, where: str, count: int) -> LatencyShare:
        share = count / max(total, 1)
        return LatencyShare(
            name, where, count, share, jeffreys(count, total, level), share * profile.a_turn
        )

    functions = tuple(part(name, where, n) for (name, where), n in inner.most_common())
    inclusive = tuple(part(name, where, n) for (name, where), n in open_at.most_common())
    levels = tuple(part(name, name, by_level[name]) for name in LEVELS if name in by_level)
    return LatencyShares(profile, total, functions, inclusive, levels)


def jeffreys(count: int, total: int, level: float) -> Interval:
    """Of the proportion behind `count` in `total`; a bound that was reached is its own end."""
    tail = (1 - level) / 2
    low = special.betaincinv(count + 0.5, total - count + 0.5, tail) if count else 0.0
    high = special.betaincinv(count + 0.5, total - count + 0.5, 1 - tail) if count < total else 1.0
    return Interval(float(low), float(high), level)


def difference(
    before: LatencyShares, after: LatencyShares, level: float = 0.95
) -> list[ShareChange]:
    """By function, what a turn takes longer or shorter, the largest change first; by the normal
    approximation to both shares.
    """
    sides = [
        {share.name: share for share in side.functions}  # names of two levels are never alike
        for side in (before, after)
    ]
    z = float(special.ndtri((1 + level) / 2))
    changes = []
    for name in sides[0] | sides[1]:
        found = [side.get(name) for side in sides]
        x, y = (share.value if share else 0.0 for share in found)
        half = z * math.hypot(
            *(_sd(share, side) for share, side in zip(found, (before, after), strict=True))
        )
        changes.append(ShareChange(name, x, y, Interval(y - x - half, y - x + half, level)))
    return sorted(changes, key=lambda c: -abs(c.after - c.before))


def _sd(share: LatencyShare | None, side: LatencyShares) -> float:
    """Of a function's part of the latency; one that was never seen counts as half a sample."""
    p = (share.samples if share else 0.5) / max(side.samples, 1)
    return side.profile.a_turn * math.sqrt(max(p * (1 - p), 0.0) / max(side.samples, 1))
