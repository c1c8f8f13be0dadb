# SPDX-License-Identifier: BSD-2-Clause
"""Quantiles of latencies that a tool printed as counts per bucket."""

from __future__ import annotations

from collections.abc import Sequence

PROBABILITIES: tuple[str, ...] = (
    "0.01",
    "0.05",
    "0.1",
    "0.25",
    "0.5",
    "0.75",
    "0.9",
    "0.95",
    "0.99",
)
PROBABILITIES += ("0.999", "0.9999")


def quantiles(counts: Sequence[tuple[float, int]], total: int) -> dict[str, float]:
    """Probability as text -> lower edge of the bucket that holds that rank.

    `counts` are (lower edge, count); `total` may be more than their sum, for values beyond every
    bucket. A quantile that lies among those is left out.
    """
    found: dict[str, float] = {}
    ordered = sorted(counts)
    at, below = 0, 0
    for text in PROBABILITIES:
        rank = float(text) * total
        while at < len(ordered) and below + ordered[at][1] < rank:
            below += ordered[at][1]
            at += 1
        if at == len(ordered):
            break
        found[text] = ordered[at][0]
    return found
