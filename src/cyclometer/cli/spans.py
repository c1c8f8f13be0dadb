# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer explain --from` and `--every`: what ran between two addresses of an image."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclometer.cli.common import print_json
from cyclometer.cli.progress import Display
from cyclometer.errors import NotComparable, UsageError

if TYPE_CHECKING:
    from cyclometer.record.span import Spanned, Wanted
    from cyclometer.targets.api import Request


def wanted(start: str | None, stop: str | None, skip: int, every: str | None) -> Wanted | None:
    """What the options ask for; None for none of them. Raises UsageError for what does not go
    together.
    """
    from cyclometer.record.span import Wanted

    if start and every:
        raise UsageError("--from explains one window and --every lists all; choose one")
    if not (start or every):
        if stop or skip:
            raise UsageError("--to and --skip need --from or --every, which say where to begin")
        return None
    return Wanted(start or every or "", stop, skip, None if every else 1)


def traced(target: Any, request: Request, asked: Wanted) -> Spanned:
    """Boots an image and traces it. Raises UsageError without an image, NotComparable for a target
    that cannot.
    """
    if request.image is None or request.image == Path():
        raise UsageError("--from and --every are for an image: add --image KERNEL.elf")
    if not hasattr(target, "spans"):
        raise NotComparable(
            f"target {target.name} traces no image between addresses; qemu-virt, rocket and cva6 do"
        )
    with Display() as display:
        display.show(0, 1, f"{target.name}: {request.image.name} {asked.title}")
        found: Spanned = target.spans(request, asked)
    return found


def tell_paths(
    target: Any, spanned: Spanned, asked: Wanted, output: Path | None, as_json: bool
) -> None:
    """Prints the windows by path."""
    from cyclometer.explain import span
    from cyclometer.report import span as report

    if output is not None:
        raise UsageError("--every prints a table; explain one window by --from, --skip and -o")
    found = span.paths(spanned, asked)
    document = report.as_json(target.name, spanned, asked, found)
    if as_json:
        print_json(document)
    else:
        report.show(document)
