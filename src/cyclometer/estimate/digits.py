# SPDX-License-Identifier: BSD-2-Clause
"""Honest digits: a value is printed no finer than its interval supports."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

from .interval import Interval


def rounded(value: float, half_width: float) -> str:
    """The value with as many digits as its half-width supports, e.g. 4539.96 +- 0.45 is "4540.0".

    The place of the last digit is the one that shows two digits of a half-width below 3.55 of its
    leading power of ten and one above (the rule of the Particle Data Group). From a half-width of
    one on that place is at least the units, so cycles are integers. A half-width of zero prints the
    value `plain`; an infinite one supports only its order of magnitude, "~5000".
    """
    if not math.isfinite(value):
        return str(value)
    if math.isinf(half_width) or math.isnan(half_width):
        return "~" + _at(value, _leading(value), ROUND_HALF_EVEN) if value else "0"
    return _at(value, _place(half_width), ROUND_HALF_EVEN) if half_width else plain(value)


def plain(value: float) -> str:
    """A value that no interval bounds, such as a figure that a tool printed: as it is, to two
    decimals or five digits.

    Whichever of the two is finer: 4448.927 is "4448.93", 0.70271687 "0.70272", 1629 "1629".
    """
    if not math.isfinite(value):
        return str(value)
    text = _at(value, min(-2, _leading(value) - 4), ROUND_HALF_EVEN) if value else "0.0"
    return text.rstrip("0").rstrip(".")


def figure(value: float, interval: Interval) -> str:
    """The value with the digits that its interval supports, but one at least; `plain` if nothing
    bounds it.

    Of a value whose order of magnitude is not known it is the upper bound, as "<50000000".
    """
    if not math.isfinite(interval.half_width):
        return plain(value)
    if interval.unknown(value):
        return f"<{_at(interval.high, _leading(interval.high), ROUND_CEILING)}"
    return rounded(value, min(interval.half_width, abs(value) or math.inf))


def with_interval(value: float, half_width: float) -> str:
    """Value and half-width at the same place, e.g. "4540 ± 3"; the half-width is rounded up, never
    down.
    """
    if not half_width:
        return f"{rounded(value, half_width)} ± 0"
    if not math.isfinite(half_width) or not math.isfinite(value):
        return rounded(value, half_width)
    return f"{rounded(value, half_width)} ± {_at(half_width, _place(half_width), ROUND_CEILING)}"


def percent(fraction: float, half_width: float) -> str:
    """A fraction as a percentage; a half-width of 0.005 shows a tenth of a percent, e.g. "4.2
    %".
    """
    return f"{_at(100 * fraction, _place(100 * half_width), ROUND_HALF_EVEN)} %"


def _place(half_width: float) -> int:
    """Power of ten of the last digit that the half-width supports."""
    leading = _leading(half_width)
    place = leading - 1 if half_width / 10.0**leading < 3.55 else leading
    return max(place, 0) if half_width >= 1 else place


def _leading(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def _at(value: float, place: int, rounding: str) -> str:
    step = Decimal(1).scaleb(place)
    # repr gives the shortest decimal that is this float: 0.1 is not rounded up for its binary tail.
    whole = (Decimal(repr(float(value))) / step).to_integral_value(rounding) * step
    return f"{whole + 0:.{max(0, -place)}f}"  # a sum has no negative zero
