# SPDX-License-Identifier: BSD-2-Clause
"""A plan (docs/sweep.md) -> its tasks, in the order in which they stand."""

from __future__ import annotations

import hashlib
import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cyclometer.errors import BadFile
from cyclometer.sweep.task import Task, facts
from cyclometer.targets.api import Request
from cyclometer.units import seconds

MOST_TASKS = 100_000
_SECTIONS = ("sweep", "axes", "exclude")
_SETTINGS = {field.name for field in fields(Request)} - {
    "image",
    "symbols",
    "budget_s",
    "spread_s",
    "config",
}
_NAMES = {"circles": "only", "memory_latency": "memory_latency_cyc", "watchdog": "watchdog_s"}
_LISTS = {"only": str, "flow": int}
_TYPES = {
    **dict.fromkeys(("method", "clock", "machine", "kernel", "append", "cpu_model"), str),
    **dict.fromkeys(("runs", "cpu", "seed", "watchdog_s", "memory_latency_cyc"), int),
    **{"memory_jitter": int, "quick": bool},
}


@dataclass(frozen=True)
class SweepPlan:
    """The tasks of a plan, each once, and where the images lie that they name: SHA-256 -> path."""

    tasks: tuple[Task, ...]
    images: Mapping[str, Path]

    @property
    def titles(self) -> list[str]:
        """What distinguishes each task from the others, on one line; of one task, all it says."""
        shared = set.intersection(*(set(task.words) for task in self.tasks))
        return [
            " ".join(word for word in task.words if word not in shared) or task.title
            for task in self.tasks
        ]


def read(path: Path) -> SweepPlan:
    """Raises BadFile, naming what is wrong, for a file that is not a plan or plans nothing."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{path} cannot be read ({error.strerror}); name a plan file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFile(f"{path} is not TOML ({error}); docs/sweep.md shows a plan") from error
    try:
        images: dict[str, Path] = {}
        tasks = tuple({t.name: t for t in _tasks(content, path.parent, images)}.values())
    except _Wrong as wrong:
        raise BadFile(f"{path}: {wrong}; docs/sweep.md lists what a plan may hold") from None
    if not tasks:
        raise BadFile(f"{path} plans no task: every combination is excluded; leave some in")
    return SweepPlan(tasks, images)


class _Wrong(Exception):
    """What is wrong in a plan, as a phrase."""


def _tasks(content: Mapping[str, Any], folder: Path, images: dict[str, Path]) -> Iterator[Task]:
    if unknown := content.keys() - set(_SECTIONS):
        raise _Wrong(f"there is no section {min(unknown)!r}")
    fixed, axes = content.get("sweep", {}), content.get("axes", {})
    excluded = content.get("exclude", [])
    if not (isinstance(fixed, dict) and isinstance(axes, dict) and isinstance(excluded, list)):
        raise _Wrong("[sweep] and [axes] are tables, [[exclude]] is a list of tables")
    if twice := fixed.keys() & axes.keys():
        raise _Wrong(f"{min(twice)!r} stands in [sweep] and in [axes]")
    values = {name: _values(name, axis) for name, axis in axes.items()}
    # counted before they are made, for a typing error can ask for billions
    number = 1
    for axis in values.values():
        number *= len(axis)
    if number > MOST_TASKS:
        raise _Wrong(f"its axes have {number} combinations, more than {MOST_TASKS}")
    for chosen in itertools.product(*values.values()):
        one = {**fixed, **dict(zip(values, chosen, strict=True))}
        if not any(_matches(one, pattern) for pattern in excluded):
            yield from _repeated(one, folder, images)


def _values(name: str, axis: Any) -> list[Any]:
    """The values of an axis: a list, or a table `from`, `to` (included), `step`."""
    if isinstance(axis, dict) and axis.keys() == {"from", "to", "step"}:
        start, stop, step = axis["from"], axis["to"], axis["step"]
        if not all(type(v) is int for v in (start, stop, step)) or step < 1 or stop < start:
            raise _Wrong(f"axis {name!r} counts from {start} to {stop} by {step}")
        if (stop - start) // step >= MOST_TASKS:
            raise _Wrong(f"axis {name!r} has more than {MOST_TASKS} values")
        return list(range(start, stop + 1, step))
    if not isinstance(axis, list) or not axis:
        raise _Wrong(f"axis {name!r} is neither a list of values nor {{from, to, step}}")
    return axis


def _matches(one: Mapping[str, Any], pattern: Any) -> bool:
    if not isinstance(pattern, dict) or not pattern:
        raise _Wrong("an [[exclude]] names no setting")
    if unknown := pattern.keys() - one.keys():
        raise _Wrong(f"an [[exclude]] names {min(unknown)!r}, which the plan does not set")
    return all(
        one[name] in value if isinstance(value, list) else one[name] == value
        for name, value in pattern.items()
    )


def _repeated(one: Mapping[str, Any], folder: Path, images: dict[str, Path]) -> Iterator[Task]:
    rest = dict(one)
    target = rest.pop("target", None)
    if not isinstance(target, str):
        raise _Wrong("no `target` is set")
    repetitions = rest.pop("repetitions", 1)
    if type(repetitions) is not int or not 1 <= repetitions <= 1000:
        raise _Wrong(f"`repetitions` is {repetitions!r}, not a number from 1 to 1000")
    image = _image(rest.pop("image", None), folder, images)
    settings = _settings(rest)
    known = facts(target)
    yield from (Task(target, settings, n, image, known) for n in range(1, repetitions + 1))


def _image(named: Any, folder: Path, images: dict[str, Path]) -> str:
    if named is None:
        return ""
    path = folder / str(named)
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise _Wrong(f"the image {path} cannot be read ({error.strerror})") from error
    images[digest] = path
    return digest


def _settings(rest: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for spelled, value in rest.items():
        name = _NAMES.get(spelled, spelled)
        if name.startswith("config."):
            config = settings.setdefault("config", {})
            config[name.removeprefix("config.")] = _text(spelled, value)
        elif name == "config" and isinstance(value, dict):
            config = settings.setdefault("config", {})
            config |= {option: _text(option, chosen) for option, chosen in value.items()}
        elif name == "budget":
            settings["budget_s"] = _duration(value)
        elif name in _SETTINGS:
            settings[name] = _setting(spelled, name, value)
        else:
            raise _Wrong(f"there is no setting {spelled!r}")
    return settings


def _setting(spelled: str, name: str, value: Any) -> Any:
    if name in _LISTS:
        listed = [value] if name == "only" and isinstance(value, str) else value
        if not isinstance(listed, list) or not all(type(v) is _LISTS[name] for v in listed):
            raise _Wrong(f"{spelled!r} is {value!r}, not a list of {_LISTS[name].__name__}")
        return listed
    if type(value) is not _TYPES[name]:
        raise _Wrong(f"{spelled!r} is {value!r}, not of type {_TYPES[name].__name__}")
    return value


def _text(name: str, value: Any) -> str:
    """An option's value as `--config` takes it: on and off for true and false."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if not isinstance(value, str | int):
        raise _Wrong(f"option {name!r} is {value!r}, neither a text nor a number")
    return str(value)


def _duration(value: Any) -> float:
    try:
        return seconds(str(value))
    except ValueError as error:
        raise _Wrong(str(error)) from error
