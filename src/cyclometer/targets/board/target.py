# SPDX-License-Identifier: BSD-2-Clause
"""Boards: an image boots on real hardware, which prints our records or what `ingest` knows."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cyclometer.bundle.model import Clock, Contract
from cyclometer.errors import MeasurementFailed, NotComparable, UsageError
from cyclometer.targets import foreign_image
from cyclometer.targets.api import SILENT, MeasurementResult, Progress, Request
from cyclometer.targets.board.lab import LabBoard, LabPlace, opened
from cyclometer.targets.console import BootResult, read_stream

RUNS = 5  # boots: the unit of comparison, as many as an interval needs
BOOT_S = 300
_SETTINGS = ("labgrid", "target", "state", "image")


class BoardTarget:
    """`cyclometer run --target board --config labgrid=FILE`."""

    name = "board"
    description = "a board that labgrid switches and whose console it reads; a boot is a run"
    options = frozenset(("image", "name", "until", "runs", "watchdog_s", "config"))
    concurrent = False
    exact = False
    programs: frozenset[str] = frozenset()

    def missing(self) -> str:
        """One sentence where labgrid is not installed; empty where it is."""
        if find_spec("labgrid"):
            return ""
        return "target board needs labgrid; install it with: pip install 'cyclometer[board]'"

    def build(self, progress: Progress = SILENT) -> list[Path]:
        """A board's image is built by its project."""
        del progress
        raise NotComparable("target board builds nothing; name the image to boot with --image")

    def circles(self, config: dict[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """None: what a board times, its image says when it boots."""
        del config
        return Clock("unknown", "ticks"), []

    def measure(
        self, request: Request, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """Boots the board `runs` times. Ctrl-C keeps the boots that have ended.

        `environment`, the host's, has no bearing on what a board measures, and is left out.
        """
        del environment
        request.refuse_others(self.name, self.options)
        if lacks := self.missing():
            raise NotComparable(lacks)
        place = _place(request.config)
        done = _session(place, request, progress)
        facts = _facts(place, done.images)
        made = foreign_image.of_boots(request.name, place.target, done.boots, facts, {})
        made.interrupted = done.interrupted
        return made


@dataclass
class _Session:
    """What the boots of a board printed."""

    boots: list[BootResult] = field(default_factory=list)
    images: Mapping[str, Path] = field(default_factory=dict)
    interrupted: bool = False


def _place(config: Mapping[str, str]) -> LabPlace:
    if unknown := [name for name in config if name not in _SETTINGS]:
        raise UsageError(f"target board has no setting {unknown[0]}; it has {', '.join(_SETTINGS)}")
    file = config.get("labgrid") or os.environ.get("LG_ENV")
    if not file:
        raise UsageError(
            "target board needs labgrid's file; name it with --config labgrid=FILE or in LG_ENV"
        )
    return LabPlace(
        Path(file), config.get("target", "main"), config.get("state"), config.get("image")
    )


def _facts(place: LabPlace, images: Mapping[str, Path]) -> dict[str, Any]:
    """What is recorded of a board: the images that are files here, and who switched it."""
    found = {name: foreign_image.identity(path) for name, path in images.items() if path.is_file()}
    version = importlib.metadata.version("labgrid")
    facts = {"labgrid": version, "board": place.target, "images": found}
    return {name: fact for name, fact in facts.items() if fact}


def _session(place: LabPlace, request: Request, progress: Progress) -> _Session:
    """Boots until one fails, or the user has enough. Raises MeasurementFailed if none ended."""
    runs, done = request.runs or RUNS, _Session()
    for run in range(1, runs + 1):
        progress.visits(run - 1, runs, f"boot {run}")
        try:
            with opened(place, request.image) as board:
                done.images = board.images
                _boot(board, request, progress, done.boots)
        except KeyboardInterrupt:
            if not done.boots:
                raise
            done.interrupted = True
            break
        except MeasurementFailed as error:
            if not done.boots:
                raise
            done.boots.append(BootResult(b"", f"failed: {error}"))
            break
    progress.visits(runs, runs, "")
    return done


def _boot(board: LabBoard, request: Request, progress: Progress, boots: list[BootResult]) -> None:
    """One boot, from power to no power."""
    bound_s, ends = request.watchdog_s or BOOT_S, foreign_image.ends(request)
    try:
        board.boot()
        boots.append(read_stream(board.take, bound_s, progress.stop, ends))
    except BaseException:
        with contextlib.suppress(MeasurementFailed):  # the first failure says more
            board.power_off()
        raise
    board.power_off()
