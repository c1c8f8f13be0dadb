# SPDX-License-Identifier: BSD-2-Clause
"""A board in a laboratory: its power, its console and what brings an image to it are labgrid's
(https://labgrid.readthedocs.io), by the laboratory's own file.
"""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclometer.errors import CyclometerError, MeasurementFailed, UsageError

if TYPE_CHECKING:
    from labgrid import Environment

_CHUNK_BYTES = 4096
OFF = "off"  # the state of a strategy in which a board has no power


@dataclass(frozen=True)
class LabPlace:
    """Where a board is described."""

    file: Path
    target: str = "main"
    state: str | None = None  # of its strategy; None: it boots when it gets power
    slot: str | None = None  # the name of the image in the file


class LabBoard:
    """A board that is off until it boots. What labgrid raises becomes MeasurementFailed."""

    def __init__(self, target: Any, state: str | None, images: dict[str, Path]):
        self.images = images
        self._target, self._state = target, state
        self._console: Any = None

    def boot(self) -> None:
        """Takes power away and gives it again; nothing that the console held before is read."""
        with _told("booting the board"):
            self._switch_off()
            if self._state is not None:
                self._target.get_strategy().transition(self._state)
                self._console = self._target.get_driver("ConsoleProtocol")
            else:
                self._console = self._target.get_driver("ConsoleProtocol")
                self._target.get_driver("PowerProtocol").on()

    def power_off(self) -> None:
        """Leaves the board without power. One that has ended itself, as an emulator does, has
        none.
        """
        with _told("switching the board off"):
            try:
                self._switch_off()
            except Exception:
                if not self._ended():
                    raise

    def _switch_off(self) -> None:
        if self._state is not None:
            self._target.get_strategy().transition(OFF)
        else:
            self._target.get_driver("PowerProtocol").off()
        self._target.deactivate_all_drivers()

    def _ended(self) -> bool:
        """Whether the console is at its end, behind what nobody has read."""
        while data := self.take(0):
            pass
        return data is not None

    def take(self, wait_s: float) -> bytes | None:
        """Bytes of the console, as targets.console.Take."""
        from pexpect import TIMEOUT

        try:
            data: bytes = self._console.read(size=_CHUNK_BYTES, timeout=wait_s)
            return data
        except TIMEOUT:
            return None
        except OSError:  # the line is gone
            return b""


@contextlib.contextmanager
def opened(place: LabPlace, image: Path | None) -> Iterator[LabBoard]:
    """The board at a place, with the images that its file names, one of them replaced by `image`;
    nothing of an earlier board there is left. Raises UsageError for a file that describes no such
    board.
    """
    try:
        environment, named = _laboratory(place.file.resolve())
        environment.config.data["images"] = _with_image(named, place, image)
        target = environment.get_target(place.target)
    except CyclometerError:
        raise
    except Exception as error:  # of labgrid, of its drivers, or of the file's own modules
        raise UsageError(f"{place.file}: {_sentence(error)}") from error
    if target is None:
        names = ", ".join(environment.config.get_targets()) or "none"
        raise UsageError(f"{place.file} has no target {place.target}; it has {names}")
    images = {name: Path(path) for name, path in environment.config.get_images().items()}
    try:
        yield LabBoard(target, place.state, images)
    finally:
        atexit.unregister(target._atexit_cleanup)  # or it reports once more what was wrong
        with contextlib.suppress(Exception):
            environment.cleanup()
        environment.targets.clear()


@cache
def _laboratory(file: Path) -> tuple[Environment, dict[str, str]]:
    """What a file describes, and the images that it names. Modules that it imports may register
    their drivers only once in a process.
    """
    from labgrid import Environment

    environment = Environment(str(file))
    return environment, dict(environment.config.data.get("images") or {})


def _with_image(named: dict[str, str], place: LabPlace, image: Path | None) -> dict[str, str]:
    """The images of a file by name; `image` takes the place of one of them."""
    if image is None:
        return named
    slot = place.slot or (next(iter(named)) if len(named) == 1 else None)
    if slot not in named:
        known = ", ".join(named) or "none"
        raise UsageError(
            f"{place.file} does not say which image --image replaces; choose one of its images "
            f"({known}) with --config image=NAME"
        )
    return {**named, slot: str(image.resolve())}


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # of labgrid, of its drivers, or of a strategy
        raise MeasurementFailed(f"{what} failed: {_sentence(error)}") from error


def _sentence(error: BaseException) -> str:
    """What an error of labgrid says in its first line; a strategy's own error is its cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = getattr(error, "msg", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]
