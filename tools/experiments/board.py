# SPDX-License-Identifier: BSD-2-Clause
"""What the experiments share: boots of the Rocket board, and tables that they write into pages of docs/experiments.

Each circle has a boot of its own, as with `cyclometer run --target rocket`, so the cycles are the same.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from cyclometer.bundle.model import Bundle
from cyclometer.estimate.rows import estimates
from cyclometer.record.trace import CAUSES, Steps, load, windows
from cyclometer.targets import build, kernel, rocket_board
from cyclometer.targets.console import Ended

PAGES = Path(__file__).resolve().parents[2] / "docs" / "experiments"
MODES = {0: "user", 1: "kernel", 3: "monitor"}
FLOW = {"initial": "8", "delta": "8", "groups": "2", "tests": "2", "passes": "6"}

Config = Mapping[str, str]


def boot(image: Path, arguments: Mapping[str, str], *options: str) -> Ended:
    """One boot, until the simulator ends by itself: only then its trace is whole."""
    simulator = str(rocket_board.simulator("LitexFullConfig"))
    command = [simulator, *options, "--append", kernel.words(arguments), str(image)]
    return Ended(subprocess.run(command, capture_output=True, check=True).stdout, "ended by itself", done=True)


def bundle(boots: Sequence[Ended]) -> Bundle:
    """All these boots as one run."""
    return kernel.assemble("rocket", {}, {1: boots}, {}).bundle


def latencies(config: Config, keys: Iterable[str]) -> dict[str, float]:
    """Cycles a turn of each circle, as `cyclometer show` prints them."""
    image = kernel.image("rocket", config)
    with ThreadPoolExecutor(max_workers=build.cores()) as pool:
        ended = list(pool.map(lambda key: boot(image, FLOW | {"only": key}), keys))
    found = estimates(bundle(ended), course=False)
    return {e.contract.key: e.quiet.value for e in found if e.quiet is not None and e.valid}


def traced(config: Config, key: str, folder: Path) -> list[Steps]:
    """The windows of one boot of one circle, one a test or pass, those of empty readings among them."""
    path = folder / "trace"
    boot(kernel.image("rocket", config), FLOW | {"only": key, "groups": "1"}, "--trace", str(path))
    return windows(load(path), key)


def parts(window: Steps) -> Counter[tuple[str, str]]:
    """Cycles of one window by mode and cause, which sum to its length."""
    found: Counter[tuple[str, str]] = Counter()
    for mode, name in MODES.items():
        sums = window["causes"][1:][window["privilege"][1:] == mode].sum(axis=0, dtype=np.int64)
        found.update({(name, cause): int(n) for cause, n in zip(CAUSES, sums, strict=True)})
    return found


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown: names on the left, figures on the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write(page: str, **tables: str) -> None:
    """Puts each table between its markers, <!-- name --> and <!-- end -->. KeyError where the page has none."""
    path = PAGES / page
    text = path.read_text()
    for name, content in tables.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
        if not place.search(text):
            raise KeyError(f"{path} has no place for the table {name!r}; add <!-- {name} --> and <!-- end -->")
        text = place.sub(lambda m, content=content: f"{m[1]}\n{content}\n\n{m[2]}", text)
    path.write_text(text)
