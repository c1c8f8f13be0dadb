# SPDX-License-Identifier: BSD-2-Clause
"""What a mere move of code and data does to the cycles of a circle: the same kernel, linked at shifted addresses."""

from __future__ import annotations

import statistics

import board

SHIFTS_BYTES = ("0", "4", "20", "64", "140", "516", "1088", "2052")
KEYS = [
    "floor.crossing.user", "thread.yield.preemptive.ctx.u_to_u", "endpoint.round_trip.words_0.same",
    "endpoint.round_trip.words_0.cross", "notification.round_trip.low_to_high.u_to_u.same",
    "endpoint.call.words_0.same", "endpoint.reply_receive.words_0.cross",
    "notification.signal.wake+ctx.prio_1.u_to_u.same",
]  # fmt: skip


def effect() -> str:
    """Least, mean and greatest latency over the layouts; standard deviation and range in percent of the mean."""
    by_shift = [board.latencies({"layout": shift}, KEYS) for shift in SHIFTS_BYTES]
    rows = []
    for key in KEYS:
        values = [latency[key] for latency in by_shift]
        mean = statistics.fmean(values)
        cells = (f"{min(values):.4g}", f"{mean:.4g}", f"{max(values):.4g}")
        rows.append((f"`{key}`", *cells, f"{statistics.stdev(values) / mean:.2%}",
                     f"{(max(values) - min(values)) / mean:.2%}"))  # fmt: skip
    return board.table(["row", "least", "mean", "greatest", "sd", "range"], rows)


if __name__ == "__main__":
    board.write("layout.md", effect=effect())
