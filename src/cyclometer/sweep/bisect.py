# SPDX-License-Identifier: BSD-2-Clause
"""The first commit of a chain at which a latency is another one, several commits at a time.

With k workers a round leaves one part of k + 1, so that n commits take log n / log (k + 1) rounds;
git's own bisection is the case k = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cyclometer.errors import MeasurementFailed, NothingMeasured


@dataclass(frozen=True)
class Measured:
    """A latency at a commit in `unit` with its interval; `error` says why there is none."""

    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    error: str = ""


@dataclass(frozen=True)
class Found:
    """Between `last`, which is like the good end, and `first`, which is like the bad one, only
    commits of `undecided` are left.
    """

    last: str
    first: str
    undecided: tuple[str, ...]
    measured: Mapping[str, Measured]
    rounds: int


Measure = Callable[[Sequence[str]], Sequence[Measured]]


def search(chain: Sequence[str], measure: Measure, lanes: int) -> Found:
    """`chain` goes from the good commit to the bad one; `measure` takes up to `lanes` commits.

    A commit is like the end whose side of the middle between both its interval lies on; one whose
    interval holds the middle, or that cannot be measured, is passed over. Where the latency crosses
    the middle more than once, the first crossing that was seen is followed.
    Raises MeasurementFailed if an end has no latency, NothingMeasured if both have the same.
    """
    last = len(chain) - 1
    measured = dict(zip((0, last), measure([chain[0], chain[last]]), strict=True))
    for name, at in (("good", 0), ("bad", last)):
        if measured[at].error:
            raise MeasurementFailed(f"the {name} commit has no latency: {measured[at].error}")
    good, bad = measured[0], measured[last]
    if not (_like(good, good, bad) and _like(bad, bad, good)):
        raise NothingMeasured(
            f"good and bad commit do not differ: {good.value:g} and {bad.value:g} {good.unit}; "
            "choose others"
        )
    low, high, rounds = 0, last, 1
    while places := _places([at for at in range(low + 1, high) if at not in measured], lanes):
        measured |= zip(places, measure([chain[at] for at in places]), strict=True)
        low, high = _narrowed(measured, last)
        rounds += 1
    return Found(
        chain[low],
        chain[high],
        tuple(chain[low + 1 : high]),
        {chain[at]: measured[at] for at in sorted(measured)},
        rounds,
    )


def _places(untested: Sequence[int], lanes: int) -> list[int]:
    """Up to `lanes` of these that divide them evenly."""
    number = min(lanes, len(untested))
    return [untested[(n + 1) * len(untested) // (number + 1)] for n in range(number)]


def _narrowed(measured: Mapping[int, Measured], last: int) -> tuple[int, int]:
    """The first commit that is like the bad end, and the last before it that is like the good."""
    high = min(at for at, one in measured.items() if _like(one, measured[last], measured[0]))
    low = max(
        at for at, one in measured.items() if at < high and _like(one, measured[0], measured[last])
    )
    return low, high


def _like(one: Measured, end: Measured, other: Measured) -> bool:
    """Whether the interval of `one` lies on the side of `end`."""
    middle = (end.value + other.value) / 2
    if one.error:
        return False
    return one.low > middle if end.value > middle else one.high < middle
