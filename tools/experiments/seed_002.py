# SPDX-License-Identifier: BSD-2-Clause
"""Seed 002 on the Rocket core: what reading mtime instead of rdtime saves, with and without mcs, to the cycle."""

from __future__ import annotations

import tempfile
from pathlib import Path

import board

SIGNAL = "notification.signal.wake+ctx.prio_1.u_to_u.same"
KEYS = [
    "endpoint.call.words_0.same", "endpoint.reply_receive.words_0.same", "endpoint.call.words_0.cross",
    "endpoint.reply_receive.words_0.cross", "endpoint.send.words_0.cross", "endpoint.call.words_10.cross",
    "endpoint.reply_receive.words_10.cross", SIGNAL, "notification.wait.blocking.prio_1.u_to_u.same",
]  # fmt: skip


def changes(mcs: str) -> str:
    """Each row with rdtime and with mtime, and the change against rdtime."""
    before, after = (board.latencies({"mcs": mcs, "timer": timer}, KEYS) for timer in ("rdtime", "mtime"))
    rows = [
        (f"`{key}`", f"{before[key]:.4g}", f"{after[key]:.4g}", f"{(after[key] - before[key]) / before[key]:+.2%}")
        for key in KEYS
    ]
    return board.table(["row", "rdtime", "mtime", "change"], rows)


def carried() -> str:
    """The last signal's window with rdtime and with mtime: which mode and cause the difference lies in."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = (
            board.parts(board.traced({"mcs": "on", "timer": timer}, SIGNAL, Path(folder))[-1])
            for timer in ("rdtime", "mtime")
        )
    changed = [part for part in before | after if before[part] != after[part]]
    differ = sorted(changed, key=lambda part: after[part] - before[part])
    rows = [(f"{mode}: {cause}", before[mode, cause], after[mode, cause], after[mode, cause] - before[mode, cause])
            for mode, cause in differ]  # fmt: skip
    sums = (before.total(), after.total(), after.total() - before.total())
    return board.table(["mode and cause", "rdtime", "mtime", "difference"], [*rows, ("sum of all", *sums)])


if __name__ == "__main__":
    board.write("seed-002.md", mcs_on=changes("on"), mcs_off=changes("off"), carried=carried())
