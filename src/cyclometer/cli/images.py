# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer gate A.elf B.elf`: measures two images, judges the second, explains what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from cyclometer.cli import common
from cyclometer.cli.progress import Display
from cyclometer.errors import FAILED, REGRESSED, CyclometerError, UsageError

if TYPE_CHECKING:
    from cyclometer.compare.finding import Options
    from cyclometer.compare.pairing import Across
    from cyclometer.compare.verdicts import Comparison
    from cyclometer.targets.api import MeasurementResult, Request

_MAGIC = b"\x7fELF"
_NAME = "image"  # of both, so that they compare
_MOST_EXPLAINED = 5
_TARGET = "qemu-virt"


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What only images need."""
    added = (
        click.option(
            "--target", metavar="NAME", help=f"What runs two images.  [default: {_TARGET}]"
        ),
        click.option("--only", multiple=True, metavar="GLOB", help="Circles of two images."),
        click.option("--symbols", metavar="FILES", help="ELF files of programs in both images."),
        click.option(
            "--watchdog", "watchdog_s", type=click.IntRange(1, 3600), help="Seconds for a boot."
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
    with Display() as display, ThreadPoolExecutor(len(requests)) as pool:
        display.show(0, 1, f"{one.name}: {' and '.join(operands)}")
        started = [pool.submit(_measured, one, each) for each in requests]
        before, after = [future.result() for future in started]
    for image, measured in zip(operands, (before, after), strict=True):
        _tell_problems(image, measured)
    sides = [pairing.side([each.bundle], judging.level) for each in (before, after)]
    found = verdicts.compare(sides[0], sides[1], judging, across)
    return found, _explained(one, requests, found), before.broken or after.broken


def code(judged: int, broken: bool) -> int:
    """A regression is one although a boot failed; nothing else is sure then."""
    return FAILED if broken and judged != REGRESSED else judged


def _measured(target: Any, request: Request) -> MeasurementResult:
    from cyclometer import environment
    from cyclometer.targets.api import Progress

    measured: MeasurementResult = target.measure(request, environment.collect(), Progress())
    return measured


def _tell_problems(image: str, measured: MeasurementResult) -> None:
    for problem in measured.bundle.identity.problems:
        if problem.kind == "failed":
            common.complain(f"{image}: {problem.where}: {problem.what}")


def _explained(target: Any, requests: Sequence[Request], found: Comparison) -> list[str]:
    """What carries the change of each row, as far as the images let their turns be traced."""
    from cyclometer.compare.finding import CHANGED
    from cyclometer.explain import sources
    from cyclometer.explain.difference import difference
    from cyclometer.explain.explanation import explain
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
            lines.append(in_one_line(difference(sides[0], sides[1])))
    except CyclometerError as error:
        lines.append(f"not explained: {error}")
    if len(changed) > len(keys):
        lines.append(f"{len(changed) - len(keys)} more rows changed; `cyclometer explain --diff`")
    return lines
