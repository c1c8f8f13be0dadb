# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer explain` of circles of the running Linux, by samples."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli.common import print_json, write_page
from cyclometer.cli.progress import Display
from cyclometer.errors import CyclometerError, NotComparable

if TYPE_CHECKING:
    from cyclometer.explain.explanation import Explanation
    from cyclometer.record.profile import Profile

TARGET = "linux"
SECONDS = 3.0
_DEFAULT_TRACED = "qemu-virt"
_BOOTS_KERNELS = "qemu-linux"
_BOOT_S = 60  # wall clock: a kernel that does not start must not keep the samples waiting
_IMAGES = ("/boot/vmlinuz-{}", "/usr/lib/modules/{}/vmlinuz")  # of the kernel that runs


@dataclass(frozen=True)
class SampledSides:
    """Those of each side; of samples taken now also the turn that the same kernel executes, where
    it can be traced.
    """

    sides: list[Profile]
    exact: Explanation | None = None


def samples(
    sides: Sequence[str], key: str, target: str | None, config: Mapping[str, str], exact: bool
) -> SampledSides | None:
    """Kept samples of bundles, or those taken now where the side is the running Linux, with the
    `exact` path beside these if it is wanted. None if anything else is asked for.
    """
    from cyclometer.explain import sources
    from cyclometer.targets.api import Profiler, Request
    from cyclometer.targets.registry import TARGETS

    if sides and all(Path(side).is_dir() for side in sides):
        kept = [sources.kept_profile(Path(side), key) for side in sides]
        found = [one for one in kept if one is not None]
        return SampledSides(found) if len(found) == len(sides) else None
    native = list(sides) == [TARGET] or (not sides and target == TARGET)
    if not native and (sides or target or config or not _only_native(key)):
        return None
    linux = TARGETS.load(TARGET)
    assert isinstance(linux, Profiler)
    taken = linux.profile(Request(config=config), key, SECONDS)
    if not exact:
        return SampledSides([taken])
    try:
        return SampledSides([taken], _exact(key))
    except CyclometerError as error:
        click.echo(f"no exact path beside the samples: {error}", err=True)
        return SampledSides([taken])


def _exact(key: str) -> Explanation:
    """The turn of a circle on an image of the kernel that runs, under QEMU. Raises CyclometerError
    where there is no image, or no such turn.
    """
    from cyclometer.explain import sources
    from cyclometer.explain.explanation import explain
    from cyclometer.targets.api import Progress, Request
    from cyclometer.targets.registry import TARGETS

    image = _own_image()
    if key not in _keys(_BOOTS_KERNELS):
        raise NotComparable(f"target {_BOOTS_KERNELS} cannot run {key} here")
    request = Request(only=(key,), config={"kernel": image}, watchdog_s=_BOOT_S)
    target = TARGETS.load(_BOOTS_KERNELS)
    with Display() as display:
        progress = Progress(display.show)
        found = sources.trace(target, request, [key], steady_only=True, progress=progress)
    return explain(found[key]["steady"])


def _own_image() -> str:
    """The image of the kernel that runs. Raises NotComparable if this user cannot read it."""
    paths = [pattern.format(os.uname().release) for pattern in _IMAGES]
    found = next((path for path in paths if os.access(path, os.R_OK)), None)
    if found is None:
        raise NotComparable(
            f"{' and '.join(paths)} cannot be read; name a copy of this kernel's image with "
            "--kernel to see what it executes"
        )
    return found


def _only_native(key: str) -> bool:
    """Whether the Linux harness has this circle and the target that is traced by default has
    not.
    """
    return key in _keys(TARGET) and key not in _keys(_DEFAULT_TRACED)


def _keys(target: str) -> set[str]:
    from cyclometer.targets.registry import TARGETS

    try:
        return {contract.key for contract in TARGETS.load(target).circles()[1]}
    except CyclometerError:  # what it needs is not installed
        return set()


def report_samples(
    found: SampledSides,
    output: Path | None,
    as_json: bool,
) -> None:
    """Prints one sampled circle, or what changed from the first side to the second."""
    from cyclometer.explain.profile import difference, shares
    from cyclometer.report import profile as report
    from cyclometer.report import stack_files

    sides = [shares(one) for one in found.sides]
    changes = difference(sides[0], sides[1]) if len(sides) == 2 else []
    if output is not None:
        from cyclometer.report.html import profile as html

        stacks = stack_files.text(output, [stack_files.of_samples(side) for side in sides])
        write_page(output, html.document(sides, changes, found.exact) if stacks is None else stacks)
    if changes:
        compared = report.difference_json(sides[0], sides[1], changes)
        print_json(compared) if as_json else report.show_difference(compared)
    else:
        one = report.as_json(sides[0], found.exact)
        print_json(one) if as_json else report.show(one)
