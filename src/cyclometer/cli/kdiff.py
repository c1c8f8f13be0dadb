# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer kdiff`: what a change of a Linux kernel costs, as text for a mailing list."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli.common import print_json, write_page
from cyclometer.cli.judging import share
from cyclometer.cli.progress import Display
from cyclometer.errors import NOTHING, PASS, REGRESSED, CyclometerError, UsageError
from cyclometer.targets.qemu_linux.debian import is_package

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle
    from cyclometer.compare.finding import Finding
    from cyclometer.targets.api import Request

_BOOTS = 2
_PATTERNS = ("pipe", "futex", "syscall")


@click.command()
@click.argument("old")
@click.argument("new")
@click.argument("patterns", nargs=-1, metavar="[PATTERN ...]")
@click.option(
    "--build",
    metavar="COMMAND",
    help=(
        "Build command: OLD and NEW are then git revisions of the current tree, each built in"
        " a separate checkout."
    ),
)
@click.option("--append", metavar="WORDS", help="Append to the command line of both kernels.")
@click.option("--append-new", metavar="WORDS", help="Append to the command line of NEW only.")
@click.option(
    "--cpu-model",
    metavar="MODEL",
    help="QEMU CPU model for both.  [default: EPYC-Rome-v1 on x86-64]",
)
@click.option(
    "--margin",
    callback=share,
    metavar="SHARE",
    help="Exit with 1 if a row grows by more than this.",
)
@click.option(
    "--time",
    "times",
    nargs=2,
    type=click.Path(exists=True, path_type=Path),
    metavar="OLD NEW",
    help="Two bundles measured natively on these kernels, printed beside the counts.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the long form, with flame graphs, to this HTML file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all functions.")
def command(
    old: str,
    new: str,
    patterns: tuple[str, ...],
    build: str | None,
    append: str | None,
    append_new: str | None,
    cpu_model: str | None,
    margin: float | None,
    times: tuple[Path, Path] | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Count the instructions of Linux kernels OLD and NEW under QEMU, and name what changed.

    OLD and NEW are images (bzImage, Image) or debian:PACKAGE; with --build they are git revisions.
    PATTERN chooses circles (pipe stands for pipe.*); without it they are pipe, futex and syscall.
    The output is plain ASCII of at most 78 columns: signed counts, the functions responsible, and
    what differs between the kernels. Counts are exact, so there is no verdict unless --margin is
    given.

    Exit codes: 0, 1 if a row grew by more than --margin, 6 if no row could be counted in both.

    Example: cyclometer kdiff arch/x86/boot/bzImage /tmp/bzImage pipe futex syscall

    Example: cyclometer kdiff bzImage bzImage --append-new mitigations=off

    Example: cyclometer kdiff v6.12 HEAD --build 'cp ../config .config && make -sj8 bzImage'
    """
    from cyclometer.explain.kernels import kernels
    from cyclometer.report import kernel_mail as mail
    from cyclometer.targets.api import Request

    timed = _timed(times) if times else {}
    only = tuple(_glob(pattern) for pattern in patterns or _PATTERNS)
    with ExitStack() as stack:
        images = _images((old, new), build, stack)
        lines = [append, " ".join(filter(None, (append, append_new))) or None]
        requests = [
            Request(only=only, kernel=image, append=line, cpu_model=cpu_model, runs=_BOOTS)
            for image, line in zip(images, lines, strict=True)
        ]
        before, after = _measured(requests)
        click.echo("explaining the rows that changed", err=True)
        found = replace(kernels(before, after, requests), names=_names((old, new), (before, after)))
    document = mail.as_json(found, timed, _BOOTS)
    letter = mail.text(document, _words((old, new), found.names))
    if as_json:
        print_json(document)
    else:
        click.echo(letter, nl=False)
    if output is not None:
        from cyclometer.report.html import explanation as html

        write_page(output, html.kernels_document(found, document, letter))
    if not any(not row.why for row in found.rows):
        sys.exit(NOTHING)
    sys.exit(REGRESSED if margin is not None and found.worse_than(margin) else PASS)


def _names(given: Sequence[str], bundles: Sequence[Bundle]) -> tuple[str, str]:
    """A package by the version that was found, others as they were given."""
    names = [str(bundle.identity.environment["image"]["name"]) for bundle in bundles]
    old, new = (
        image if is_package(name) else name for name, image in zip(given, names, strict=True)
    )
    return old, new


def _glob(pattern: str) -> str:
    """`pipe` stands for `pipe.*`; a key and a pattern stand for themselves."""
    return pattern if any(c in pattern for c in ".*?[") else f"{pattern}.*"


def _words(given: Sequence[str], found: Sequence[str]) -> list[str]:
    """The command line as it was given, but with the package that a pattern found: next month it
    finds another.
    """
    packages = {
        pattern: f"{pattern.partition(':')[0]}:{name.split()[0]}"
        for pattern, name in zip(given, found, strict=True)
        if is_package(pattern)
    }
    return ["cyclometer", *(packages.get(word, word) for word in sys.argv[1:])]


def _images(names: Sequence[str], build: str | None, stack: ExitStack) -> list[str]:
    """What each side boots; revisions are built first."""
    from cyclometer.targets.qemu_linux import revision

    if build is None:
        for name in names:
            if not Path(name).exists() and ":" not in name and revision.is_revision(name):
                raise UsageError(
                    f"{name} is a git revision; say how to build it: --build 'make -j8 bzImage'"
                )
        return list(names)
    found = []
    for name in names:
        click.echo(f"building {name}", err=True)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cyclometer-kdiff-"))
        found.append(str(stack.enter_context(revision.built(name, build, Path(folder)))))
    return found


def _measured(requests: Sequence[Request]) -> list[Bundle]:
    """Both kernels at once; they share the processors by the boot."""
    from concurrent.futures import ThreadPoolExecutor

    from cyclometer.targets.api import Progress
    from cyclometer.targets.registry import TARGETS

    target = TARGETS.load("qemu-linux")
    with Display() as display, ThreadPoolExecutor(len(requests)) as pool:
        progress = Progress(display.show)
        started = [pool.submit(target.measure, one, {}, progress) for one in requests]
        try:
            return [future.result().bundle for future in started]
        except (CyclometerError, KeyboardInterrupt):
            progress.stop.set()
            raise


def _timed(paths: tuple[Path, Path]) -> Mapping[str, Finding]:
    """The verdict in time of each circle that both bundles have."""
    from cyclometer.bundle import store
    from cyclometer.compare.pairing import side
    from cyclometer.compare.verdicts import compare

    before, after = (side([store.read(path)]) for path in paths)
    found = {finding.key: finding for finding in compare(before, after).findings}
    return {key: finding for key, finding in found.items() if finding.change is not None}
