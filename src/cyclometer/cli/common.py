# SPDX-License-Identifier: BSD-2-Clause
"""What several commands share: naming and loading bundles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle
    from cyclometer.errors import BrokenPlugin

STORE = Path("results")

bundle_argument = click.argument("bundle", required=False, type=click.Path(path_type=Path))


def kernel_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which kernel the targets qemu-linux and rocket-linux boot, for the
    commands that boot one.
    """
    options = (
        click.option(
            "--kernel",
            metavar="IMAGE",
            help="Linux image: a path, debian:PACKAGE or debian@RELEASE:PACKAGE (may hold *).",
        ),
        click.option("--append", metavar="WORDS", help="Add to the command line of --kernel."),
        click.option(
            "--cpu-model",
            metavar="MODEL",
            help="QEMU CPU of qemu-linux.  [default: EPYC-Rome-v1 on x86-64]",
        ),
        click.option(
            "--symbols",
            metavar="FILE",
            help="System.map or vmlinux of the traced kernel; ELF files beside --image.",
        ),
    )
    return _with(command, options)


def image_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of whatever boots a kernel image of the user's own."""
    option = click.option(
        "--image",
        type=click.Path(path_type=Path),
        help="A kernel image of your own instead of ours.",
    )
    return _with(command, (option, machine_options))


def machine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What an image needs of its machine, and how it is known."""
    options = (
        click.option("--machine", help="QEMU machine of --image.  [default: the target's]"),
        click.option(
            "--name", metavar="NAME", help="What --image is called, so that builds compare."
        ),
        click.option("--until", metavar="TEXT", help="What --image prints when it is done."),
        click.option(
            "--bios", metavar="FILE", help="Firmware of --image under QEMU.  [default: none]"
        ),
        click.option("--memory-mib", type=click.IntRange(1, 2048), help="Memory of --image."),
    )
    return _with(command, options)


def memory_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how the memory of a simulated core answers."""
    options = (
        click.option(
            "--memory-latency",
            "memory_latency_cyc",
            type=click.IntRange(0, 100000),
            help="Cycles before memory answers (Rocket).  [default: 0]",
        ),
        click.option(
            "--memory-jitter",
            type=click.IntRange(0),
            metavar="SEED",
            help="Delay each answer by 0..15 cycles more (Rocket).",
        ),
    )
    return _with(command, options)


def _with(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def load(path: Path | None) -> Bundle:
    """The bundle at `path`, or made of another tool's file there, or the newest of the store.

    Raises BadFile or NothingMeasured.
    """
    from cyclometer.bundle import store

    if path is not None and path.is_file():
        from cyclometer.ingest import ingest

        return ingest([path])[0]
    return store.read(path or store.latest(STORE))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to an error about `word`; empty if nothing known is like it."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def print_json(kind: str, content: Mapping[str, Any]) -> None:
    """Prints a document of this kind (report.documents) on standard output."""
    from cyclometer.report import documents

    click.echo(documents.dumps(kind, content))


def note_broken(plugins: Sequence[BrokenPlugin]) -> None:
    """Reports installed packages that cannot provide what they declare; the command goes on."""
    for error in plugins:
        click.echo(f"cyclometer: {error}", err=True)
