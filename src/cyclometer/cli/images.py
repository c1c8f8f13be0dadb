# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer gate A.elf B.elf`: measures two images, judges the second, explains what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from cyclometer.cli import common
from cyclometer.cli.progress import Display
from cyclometer.errors import (
    FAILED,
    REGRESSED,
    CyclometerError,
    MeasurementFailed,
    UsageError,
)
from cyclometer.text import one_line

if TYPE_CHECKING:
    from cyclometer.compare.finding import Options
    from cyclometer.compare.pairing import Across
    from cyclometer.compare.verdicts import Comparison
    from cyclometer.targets.api import MeasurementResult, Progress, Request

_MAGIC = b"\x7fELF"
_NAME = "image"  # of both, so that they compare
_MOST_EXPLAINED = 5
_TARGET = "qemu-virt"
_RECORD = "@cyc "
_LAST_LINES = 10  # of the console of a boot that failed
_LINE_CHARS = 200


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What only images need."""
    added = (
        click.option(
            "--target", metavar="NAME", help=f"Target that runs two images.  [default: {_TARGET}]"
        ),
        click.option(
            "--only",
            multiple=True,
            metavar="GLOB",
            help="Only circles of two images whose key matches; may be repeated.",
        ),
        click.option(
            "--symbols",
            metavar="FILES",
            help="Further ELF files of two images, such as programs, separated by commas.",
        ),
        click.option(
            "--watchdog",
            "watchdog_s",
            type=click.IntRange(1, 3600),
            metavar="SECONDS",
            help="End a boot of an image after this time.  [default: 60; 600 on RTL]",
        ),
        common.machine_options,
        common.memory_options,
    )
    for option in reversed(added):
        command = option(command)
    return command


def are_images(operands: Sequence[str]) -> bool:
    """Whether each of two operands is an ELF file."""
    return len(operands) == 2 and all(_is_elf(Path(one)) for one in operands)


def _is_elf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def refuse(asked: dict[str, Any]) -> None:
    """Raises UsageError for an option of images that bundles cannot heed."""
    for name, value in asked.items():
        if value is not None and value != ():
            option = name.removesuffix("_s").removesuffix("_cyc").replace("_", "-")
            raise UsageError(f"--{option} is for two images: `cyclometer gate BASE.elf PR.elf`")


def gate(
    operands: Sequence[str], asked: dict[str, Any], judging: Options, across: Across
) -> tuple[Comparison, list[str], bool]:
    """The comparison of two images, a line for each row that changed and can be explained, and
    whether a boot did not end as it should have.
    """
    from cyclometer.compare import pairing, verdicts
    from cyclometer.targets.api import Request
    from cyclometer.targets.registry import TARGETS

    one = TARGETS.load(asked.pop("target") or _TARGET)
    request = Request(**{**asked, "only": asked["only"] or ("*",), "name": asked["name"] or _NAME})
    requests = [replace(request, image=Path(image)) for image in operands]
    with Display() as display:
        display.show(0, 1, f"{one.name}: {' and '.join(operands)}")
        before, after = _both(one, requests)
    for image, measured in zip(operands, (before, after), strict=True):
        if measured.broken:
            _tell_failure(image, measured)
    sides = [pairing.side([each.bundle], judging.level) for each in (before, after)]
    found = verdicts.compare(sides[0], sides[1], judging, across)
    return found, _explained(one, requests, found), before.broken or after.broken


def code(judged: int, broken: bool) -> int:
    """A regression is one although a boot failed; nothing else is sure then."""
    return FAILED if broken and judged != REGRESSED else judged


def _both(target: Any, requests: Sequence[Request]) -> list[MeasurementResult]:
    """Boots both images at once. Raises the first one's error; the other's is printed."""
    from cyclometer.targets.api import Progress

    progress = Progress()
    with ThreadPoolExecutor(len(requests)) as pool:
        started = [pool.submit(_measured, target, each, progress) for each in requests]
        try:
            wait(started)
        except KeyboardInterrupt:
            progress.stop.set()
            raise
    for other in started[1:]:
        if started[0].exception() and isinstance(other.exception(), CyclometerError):
            common.complain(other.exception())
    return [future.result() for future in started]


def _measured(target: Any, request: Request, progress: Progress) -> MeasurementResult:
    from cyclometer import environment

    try:
        measured: MeasurementResult = target.measure(request, environment.collect(), progress)
    except MeasurementFailed as error:
        raise MeasurementFailed(f"{request.image}: {error}") from error
    return measured


def _tell_failure(image: str, measured: MeasurementResult) -> None:
    """How a boot failed, and what it had printed, which no bundle keeps here."""
    from cyclometer.targets import foreign_image

    for problem in measured.bundle.identity.problems:
        if problem.kind == "failed":
            common.complain(f"{image}: {problem.where}: {problem.what}")
    kept = foreign_image.keep(measured.console)
    common.complain(f"the console of {image} is in {kept} and ends:")
    lines = measured.console.decode(errors="replace").splitlines()
    said = [line for line in lines if line.strip() and not line.startswith(_RECORD)]
    for line in said[-_LAST_LINES:]:
        click.echo(f"    {one_line(line, _LINE_CHARS)}", err=True)


def _explained(target: Any, requests: Sequence[Request], found: Comparison) -> list[str]:
    """What carries the change of each row, as far as the images let their turns be traced."""
    from cyclometer.compare.finding import CHANGED
    from cyclometer.explain import sources
    from cyclometer.explain.difference import difference
    from cyclometer.explain.explanation import explain
    from cyclometer.report import explained
    from cyclometer.report.explanation import in_one_line

    changed = [f.key for f in found.findings if f.verdict in CHANGED]
    keys = changed[:_MOST_EXPLAINED]
    if not keys:
        return []
    lines: list[str] = []
    try:
        with Display() as display:
            display.show(0, 1, f"{target.name}: explaining {len(keys)} rows that changed")
            traced = [sources.trace(target, each, keys, steady_only=True) for each in requests]
        for key in keys:
            sides = [explain(side[key]["steady"]) for side in traced]
            document = explained.difference(difference(sides[0], sides[1]))
            lines.append(in_one_line(document))
    except CyclometerError as error:
        lines.append(f"not explained: {error}")
    if len(changed) > len(keys):
        lines.append(f"{len(changed) - len(keys)} more rows changed; `cyclometer explain --diff`")
    return lines
