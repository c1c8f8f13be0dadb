# SPDX-License-Identifier: BSD-2-Clause
"""What a mere move of code and data does to the cycles of a circle: the same kernel, linked at
shifted addresses.

And with an option that these circles never meet, which moves code in less simple ways.
"""

from __future__ import annotations

import statistics

import board

SHIFTS_BYTES = ("0", "4", "20", "64", "140", "516", "1088", "2052")
KEYS = [
    "floor.crossing.user",
    "thread.yield.preemptive.ctx.u_to_u",
    "endpoint.round_trip.words_0.same",
    "endpoint.round_trip.words_0.cross",
    "notification.round_trip.low_to_high.u_to_u.same",
    "endpoint.call.words_0.same",
    "endpoint.reply_receive.words_0.cross",
    "notification.signal.wake+ctx.prio_1.u_to_u.same",
]
# Images in which the circles below execute the same instructions: none of them reads the time.
IMAGES = [{"layout": shift} for shift in SHIFTS_BYTES[:5]]
IMAGES += [{"timer": "mtime", "layout": shift} for shift in SHIFTS_BYTES[:3]]
TURNS = [
    "floor.crossing.user",
    "thread.yield.round_trip.u_to_u.cross",
    "component.invoke.cross",
    "brand.upcall.immediate.cross",
    "endpoint.round_trip.words_0.same",
    "endpoint.round_trip.words_0.cross",
    "endpoint.round_trip.words_10.cross",
    "notification.round_trip.low_to_high.u_to_u.same",
    "microkit.ppcall.cross",
]
PASSES = [
    "thread.yield.preemptive.ctx.u_to_u",
    "semaphore.give.wake+ctx.u_to_u",
    "endpoint.call.words_0.same",
    "endpoint.call.words_0.cross",
    "endpoint.reply_receive.words_0.cross",
    "notification.signal.wake+ctx.prio_1.u_to_u.same",
]


def effect() -> str:
    """Least, mean and greatest latency over the layouts; standard deviation and range in percent of
    the mean.
    """
    by_shift = [board.latencies({"layout": shift}, KEYS) for shift in SHIFTS_BYTES]
    rows = []
    for key in KEYS:
        values = [latency[key] for latency in by_shift]
        mean = statistics.fmean(values)
        cells = (f"{min(values):.4g}", f"{mean:.4g}", f"{max(values):.4g}")
        rows.append(
            (
                f"`{key}`",
                *cells,
                f"{statistics.stdev(values) / mean:.2%}",
                f"{(max(values) - min(values)) / mean:.2%}",
            )
        )
    return board.table(["row", "least", "mean", "greatest", "sd", "range"], rows)


def apart() -> dict[str, str]:
    """How far two images of the same instructions lie apart at most, of turns and of passes."""
    by_image = [board.latencies(image, [*TURNS, *PASSES]) for image in IMAGES]
    tables = {}
    for name, keys in (("turns", TURNS), ("passes", PASSES)):
        ends = {key: [end(found[key] for found in by_image) for end in (min, max)] for key in keys}
        rows = [
            (f"`{key}`", f"{low:.4g}", f"{high:.4g}", f"{high / low - 1:.1%}")
            for key, (low, high) in ends.items()
        ]
        tables[name] = board.table(["row", "least", "greatest", "apart"], rows)
    return tables


if __name__ == "__main__":
    board.write("layout.md", effect=effect(), **apart())
