# SPDX-License-Identifier: BSD-2-Clause
"""One task of a sweep: a `run` with everything that decides its result, and the name of that."""

from __future__ import annotations

import hashlib
import platform
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from cyclometer import __version__, environment
from cyclometer.record.schema import Flow
from cyclometer.targets import build
from cyclometer.targets.api import Request, emulator_version
from cyclometer.targets.registry import TARGETS


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """A task, as it travels to a worker. `settings` are fields of a Request but the image."""

    target: str
    settings: dict[str, Any]
    repetition: int = 1
    image: str = ""  # SHA-256 of the kernel image, where the plan names one
    facts: dict[str, str] = {}  # versions and sources of the machine that made the plan

    @property
    def name(self) -> str:
        """32 hex digits of the SHA-256 over all fields."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:32]

    @property
    def is_exact(self) -> bool:
        return TARGETS.load(self.target).exact

    @property
    def title(self) -> str:
        """The target and what was set, on one line."""
        return " ".join(self.words)

    @property
    def words(self) -> list[str]:
        """The target, and each setting as NAME=VALUE."""
        words = [self.target]
        for name, value in sorted(self.settings.items()):
            if name == "config":
                words += [f"{option}={chosen}" for option, chosen in sorted(value.items())]
            else:
                text = ",".join(map(str, value)) if isinstance(value, list) else value
                words.append(f"{name}={text}")
        if self.repetition > 1:
            words.append(f"#{self.repetition}")
        return words


def request(task: Task, image: Path | None) -> Request:
    """What the task asks of its target; `image` is where its image lies on this machine."""
    settings = dict(task.settings)
    if "only" in settings:
        settings["only"] = tuple(settings["only"])
    if "flow" in settings:
        settings["flow"] = Flow(*settings["flow"])
    return Request(**settings, image=image)


@cache
def facts(target: str) -> dict[str, str]:
    """What of this machine decides a task's result: sources, versions, and where it measures real
    time the machine itself.
    """
    found = {"cyclometer": __version__, "sources": sources()}
    measured = TARGETS.load(target)
    for program in sorted(measured.programs):
        if shutil.which(program):
            found[program] = emulator_version(program)
    if not measured.exact:
        machine = environment.collect()
        found |= {name: str(machine.get(name, "")) for name in ("cpu_model", "kernel_release")}
        found["machine"] = platform.node()
    return found


@cache
def sources() -> str:
    """A digest of the C sources and board descriptions that this version carries."""
    root = build.sources()
    parts = [
        path
        for folder in ("core", "linux", "kernel", "machines")
        for path in sorted((root / folder).rglob("*"))
        if path.is_file()
    ]
    return build.content(root, parts, ())
