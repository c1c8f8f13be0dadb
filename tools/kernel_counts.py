# SPDX-License-Identifier: BSD-2-Clause
"""Instructions per turn of every circle (benchmark) of the reference kernel, by configuration.

They are exact under QEMU, so they are kept in a table and compared to the instruction. Run this
after a change that is meant to alter them; the table's difference then shows what it altered.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Samples
from cyclometer.record.schema import Flow
from cyclometer.targets.api import SILENT, Request
from cyclometer.targets.qemu.target import QemuTarget
from findings import ROOT

TABLE = ROOT / "tests" / "data" / "kernel-counts.tsv"
FLOW = Flow(initial=4, delta=4, groups=2, tests=2)

# Each option alone, and some together.
CONFIGURATIONS = (
    "board=virt",
    "board=virt userspace=off",
    "board=virt canaries=on",
    "board=virt objcore=on",
    "board=virt mcs=on",
    "board=virt timer=mtime",
    "board=virt asid=off",
    "board=virt accounting=on",
    "board=virt mcs=on accounting=on",
    "board=virt canaries=on objcore=on mcs=on timer=mtime asid=off accounting=on",
    "board=sifive_u",
    "board=sifive_u timer=mtime",
    "board=sifive_u mcs=on",
    "board=sifive_u mcs=on timer=mtime",
    "board=sifive_u userspace=off objcore=on mcs=on",
)

Counts = dict[str, Fraction]  # by key


def measure(configuration: str) -> Counts:
    """Boot one configuration once; instructions per turn of each circle, clock reading excluded.

    Raises ValueError if two tests of one size differ, or a contract does not hold.
    """
    options = dict(word.split("=") for word in configuration.split())
    target = QemuTarget(options.pop("board"))
    bundle = target.measure(Request(config=options, runs=1, flow=FLOW), {}, SILENT).bundle
    return {
        row.contract.key: _per_turn(row.contract.key, bundle.samples, bundle.samples.row == index)
        for index, row in enumerate(bundle.identity.rows)
    }


def _per_turn(key: str, samples: Samples, here: NDArray[np.bool_]) -> Fraction:
    """The slope between two test sizes, or the one size less what reading the clock costs."""
    if samples.tags[here].any():
        raise ValueError(f"{key}: its counters are not those of its contract")
    tests = here & (samples.kind == 0)
    sizes = {}
    for turns in np.unique(samples.turns[tests]):
        values = np.unique(samples.value[tests & (samples.turns == turns)])
        if len(values) > 1:
            raise ValueError(f"{key}: tests of {turns} turns differ: {values.tolist()}")
        sizes[int(turns)] = int(values[0])
    if len(sizes) > 1:
        (few, fewer), (many, more) = sorted(sizes.items())
        return Fraction(more - fewer, many - few)
    ((turns, value),) = sizes.items()
    overhead = int(samples.value[here & (samples.kind == 1)][-1])
    return Fraction(value, turns) - overhead


def read() -> dict[str, Counts]:
    """The table, by configuration; a circle that a configuration does not have is left out."""
    lines = [line.split("\t") for line in TABLE.read_text().splitlines() if line[0] != "#"]
    return {
        configuration: {row[0]: Fraction(row[i]) for row in lines[1:] if row[i] != "-"}
        for i, configuration in enumerate(lines[0][1:], 1)
    }


def render(counts: Mapping[str, Counts]) -> str:
    """The table's text: a line per key, a column per configuration."""
    keys = dict.fromkeys(key for found in counts.values() for key in found)
    lines = [
        "# Instructions per turn under QEMU; a `-` stands for a circle that a configuration lacks.",
        "# Written by tools/kernel_counts.py.",
        "\t".join(["key", *counts]),
        *("\t".join([key, *(str(c.get(key, "-")) for c in counts.values())]) for key in keys),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TABLE.write_text(render({name: measure(name) for name in CONFIGURATIONS}))
