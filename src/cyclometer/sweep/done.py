# SPDX-License-Identifier: BSD-2-Clause
"""Which tasks a store has the results of, and images that tasks need.

`tasks/DD/NAME.json` says which bundle is the task's, and counts once that bundle's entry is there.
It is written before the entry, so that a worker that dies between the two leaves a task undone, and
never a bundle that nobody knows to be the task's.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from cyclometer.errors import BadFile
from cyclometer.store.location import Location
from cyclometer.sweep.task import Task
from cyclometer.targets import build


class Done(msgspec.Struct, frozen=True):
    """A finished task: its bundle, what was measured in it (`rows.result`), and what it took."""

    bundle: str
    entry: str  # the file in the table of bundles
    result: str
    took_s: float
    where: str  # host and worker
    target: str


def note_of(name: str) -> str:
    """The file that says which bundle is a task's."""
    return f"tasks/{name[:2]}/{name}.json"


def of(location: Location, tasks: Iterable[Task]) -> dict[str, Done]:
    """Name -> what is known of each of these tasks that is finished."""
    wanted = {note_of(task.name): task.name for task in tasks}
    present = wanted.keys() & set(location.names("tasks"))
    entries = set(location.names("bundles"))
    notes = {wanted[file]: _parsed(c) for file, c in location.read_all(sorted(present)).items()}
    return {name: note for name, note in notes.items() if note and note.entry in entries}


def one(location: Location, task: Task) -> Done | None:
    """What is known of a task if it is finished."""
    try:
        note = _parsed(location.read(note_of(task.name)))
    except FileNotFoundError:
        return None
    return note if note and location.exists(note.entry) else None


def typical_s(location: Location) -> dict[str, float]:
    """Target -> the median time of the tasks that a store has of it, in seconds."""
    times: dict[str, list[float]] = {}
    for content in location.read_all(location.names("tasks")).values():
        if note := _parsed(content):
            times.setdefault(note.target, []).append(note.took_s)
    return {target: sorted(took)[len(took) // 2] for target, took in times.items()}


def settle(location: Location, tasks: Sequence[Task], owners: dict[str, list[str]]) -> int:
    """Removes the entries of bundles that are not the one that their task's note names.

    They come from two workers that both measured a task, one of them given up for dead. `owners`
    maps a task to the entries that name it. Returns how many were removed.
    """
    removed = 0
    for name, note in of(location, tasks).items():
        for entry in owners.get(name, []):
            if entry != note.entry:
                location.remove(entry)
                removed += 1
    return removed


def _parsed(content: bytes) -> Done | None:
    try:
        return msgspec.json.decode(content, type=Done)
    except msgspec.DecodeError:
        return None  # a damaged note: the task counts as undone and is measured again


def put_image(location: Location, path: Path) -> None:
    """Copies an image into the store, where workers find it by its digest."""
    content = path.read_bytes()
    name = _image(hashlib.sha256(content).hexdigest())
    if not location.exists(name):
        location.write(name, content)


def get_image(location: Location, digest: str) -> Path:
    """Where the image lies on this machine, fetched if it is not there yet."""
    kept = build.cache() / "images" / digest
    if not kept.exists():
        content = location.read(_image(digest))
        if hashlib.sha256(content).hexdigest() != digest:
            raise BadFile(f"image {digest[:12]} of {location.url} is damaged; run the sweep again")
        kept.parent.mkdir(parents=True, exist_ok=True)
        draft = kept.with_name(f"{digest}.{os.getpid()}")
        draft.write_bytes(content)
        draft.rename(kept)  # whole or not at all, whoever else fetches it
    return kept


def _image(digest: str) -> str:
    return f"images/{digest[:2]}/{digest}"
