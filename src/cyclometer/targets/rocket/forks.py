# SPDX-License-Identifier: BSD-2-Clause
"""Boots of one image that share their beginning: the simulator forks for each when the image first
reads its arguments.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cyclometer.targets import build, reference_kernel
from cyclometer.targets.api import Progress
from cyclometer.targets.console import (
    END_RECORD,
    IDLE,
    IDLE_STATUS,
    BootResult,
    read_console,
)
from cyclometer.targets.foreign_image import interruptible

_ENDED = re.compile(rb"^(\d+) (\d+)$", re.MULTILINE)  # number of a boot, exit code
_BOUND = 124  # machines/board/README.md


def forked(
    command: Sequence[str],
    image: Path,
    boots: Sequence[Mapping[str, str]],
    bound_s: float,
    progress: Progress,
    runs: int = 1,
) -> list[BootResult]:
    """All boots, as many at once as there are cores, in the order given. They are the first of so
    many runs, which `progress` counts.

    An interrupt sets `progress.stop`, and those that had not ended by then are not `done`.
    """
    with tempfile.TemporaryDirectory(prefix="cyclometer-") as folder:
        plan = Path(folder) / "boots"
        plan.write_text("".join(f"{reference_kernel.words(boot)}\n" for boot in boots))
        options = ["--forks", str(plan), "--at-once", str(build.cores())]
        options += ["--bound-s", str(math.ceil(bound_s))]
        tell = _telling(progress, boots, len(boots) * runs)
        tell(b"")
        ended = interruptible(
            progress,
            lambda stop: read_console(
                [*command, *options, str(image)],
                bound_s * (len(boots) + 1),  # each boot has a bound of its own
                stop,
                tell=tell,
            ),
        )
        return _results(plan, len(boots), bound_s, ended)


def _telling(
    progress: Progress, boots: Sequence[Mapping[str, str]], total: int
) -> Callable[[bytes], None]:
    def tell(newest: bytes) -> None:
        numbers = [int(match[1]) for match in _ENDED.finditer(newest)]
        last = min(max(numbers, default=0), len(boots))
        progress.visits(last, total, boots[max(0, last - 1)]["only"])

    return tell


def _results(plan: Path, number: int, bound_s: float, ended: BootResult) -> list[BootResult]:
    codes = {int(match[1]): int(match[2]) for match in _ENDED.finditer(ended.console)}
    consoles = [_console(plan, place) for place in range(number + 1)]
    return [
        _result(consoles[place], codes[place], bound_s)
        if place in codes
        else BootResult(consoles[place] or consoles[0] or ended.console, ended.why)
        for place in range(1, number + 1)
    ]


def _console(plan: Path, place: int) -> bytes:
    """What a boot printed; number 0 is what they have in common."""
    path = plan.with_name(f"{plan.name}.{place}")
    return path.read_bytes() if path.exists() else b""


def _result(console: bytes, code: int, bound_s: float) -> BootResult:
    if code == _BOUND:
        why = f"had not finished after {bound_s:g} s (--watchdog allows more)"
        return BootResult(console, why, status=code)
    if code == IDLE_STATUS:
        return BootResult(console, IDLE, done=END_RECORD in console)
    return BootResult(console, "ended by itself", done=END_RECORD in console, status=code)
