# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer explain` of circles of the Linux at hand, by samples."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli.common import print_json
from cyclometer.errors import CyclometerError

if TYPE_CHECKING:
    from cyclometer.record.profile import Profile

TARGET = "linux"
SECONDS = 3.0
_DEFAULT_TRACED = "qemu-virt"
_IMAGES = ("/boot/vmlinuz-{}", "/usr/lib/modules/{}/vmlinuz")  # of the kernel that runs


def profiles(
    sides: Sequence[str], key: str, target: str | None, config: Mapping[str, str]
) -> list[Profile] | None:
    """Samples of each side: kept ones of bundles, or taken now where the side is the Linux at hand.
    None if anything else is asked for.
    """
    from cyclometer.explain import sources
    from cyclometer.targets.api import Profiler, Request
    from cyclometer.targets.registry import TARGETS

    if sides and all(Path(side).is_dir() for side in sides):
        kept = [sources.kept_profile(Path(side), key) for side in sides]
        found = [one for one in kept if one is not None]
        return found if len(found) == len(sides) else None
    native = list(sides) == [TARGET] or (not sides and target == TARGET)
    if not native and (sides or target or config or not _only_native(key)):
        return None
    linux = TARGETS.load(TARGET)
    assert isinstance(linux, Profiler)
    if image := _own_image():
        click.echo(
            f"the exact path of the same kernel: cyclometer explain --kernel {image} {key}",
            err=True,
        )
    return [linux.profile(Request(config=config), key, SECONDS)]


def _own_image() -> str | None:
    """The image of the kernel that runs, if this user may read it."""
    paths = (pattern.format(os.uname().release) for pattern in _IMAGES)
    return next((path for path in paths if os.access(path, os.R_OK)), None)


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


def tell(
    found: Sequence[Profile],
    output: Path | None,
    as_json: bool,
    write: Callable[[Path, str], None],
) -> None:
    """Prints one sampled circle, or what changed from the first side to the second."""
    from cyclometer.explain.profile import difference, shares
    from cyclometer.report import profile as report
    from cyclometer.report import stack_files

    sides = [shares(one) for one in found]
    changes = difference(sides[0], sides[1]) if len(sides) == 2 else []
    if output is not None:
        stacks = stack_files.text(output, [stack_files.of_samples(side) for side in sides])
        write(output, report.document(sides, changes) if stacks is None else stacks)
    if as_json and changes:
        print_json("profile-difference", {"changes": report.difference_json(changes)})
    elif as_json:
        print_json("profile", report.as_json(sides[0]))
    elif changes:
        report.show_difference(sides[0], sides[1], changes)
    else:
        report.show(sides[0])
