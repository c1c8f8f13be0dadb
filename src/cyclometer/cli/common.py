# SPDX-License-Identifier: BSD-2-Clause
"""What several commands share: naming and loading bundles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from cyclometer.errors import UsageError
from cyclometer.text import one_line
from cyclometer.units import seconds

if TYPE_CHECKING:
    from msgspec import Struct

    from cyclometer.bundle.model import Bundle
    from cyclometer.errors import BrokenPlugin

STORE = Path("results")
_LONGEST = 1_000  # characters of a complaint

bundle_argument = click.argument("bundle", required=False, type=click.Path(path_type=Path))
repository_option = click.option(
    "--repository",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="A folder in the git repository.  [default: the current one]",
)


def duration(_: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A time such as 60s or 2m, in seconds."""
    try:
        return None if value is None else seconds(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error


def kernel_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which kernel the targets qemu-linux and rocket-linux boot, for the
    commands that boot one.
    """
    options = (
        click.option(
            "--kernel",
            metavar="IMAGE",
            help=(
                "Linux image to boot: a path, debian:PACKAGE or debian@RELEASE:PACKAGE; PACKAGE "
                "may contain *."
            ),
        ),
        click.option("--append", metavar="WORDS", help="Append to the command line of --kernel."),
        click.option(
            "--cpu-model",
            metavar="MODEL",
            help="QEMU CPU model for qemu-linux.  [default: EPYC-Rome-v1 on x86-64]",
        ),
        click.option(
            "--symbols",
            metavar="FILE",
            help=(
                "System.map or vmlinux of --kernel; for an image, further ELF files, separated by "
                "commas."
            ),
        ),
    )
    return _with(command, options)


def image_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of whatever boots a kernel image of the user's own."""
    option = click.option(
        "--image",
        type=click.Path(path_type=Path),
        help="Your kernel image instead of the reference kernel.",
    )
    return _with(command, (option, machine_options))


def machine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What an image needs of its machine, and how it is known."""
    options = (
        click.option("--machine", help="QEMU machine for an image.  [default: the target's]"),
        click.option(
            "--name", metavar="NAME", help="Name of an image; builds to be compared need the same."
        ),
        click.option("--until", metavar="TEXT", help="Text that an image prints when it is done."),
        click.option(
            "--firmware",
            "--bios",
            "firmware",
            metavar="FILE",
            help="SBI firmware: for an S-mode image; on rocket-linux, instead of Cyclometer's.",
        ),
        click.option(
            "--memory-mib",
            type=click.IntRange(1, 2048),
            help="Memory for an image, in MiB.  [default: the machine's]",
        ),
    )
    return _with(command, options)


def memory_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how the memory of a simulated core answers."""
    options = (
        click.option(
            "--memory-latency",
            "memory_latency_cyc",
            type=click.IntRange(0, 100000),
            help="Cycles before memory answers, on a simulated core.  [default: 0]",
        ),
        click.option(
            "--memory-jitter",
            type=click.IntRange(0),
            metavar="SEED",
            help="Delay each answer of memory by another 0 to 15 cycles, at random from this seed.",
        ),
    )
    return _with(command, options)


def session_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where, when and by which clock this Linux is measured."""
    options = (
        click.option(
            "--spread",
            "spread_s",
            callback=duration,
            metavar="TIME",
            help="Spread the visits over this time, such as 10m, with pauses between rounds.",
        ),
        click.option(
            "--cpu",
            type=click.IntRange(0),
            help="The CPU to measure on.  [default: the last one available]",
        ),
        click.option(
            "--cpus",
            metavar="A,B",
            help=(
                "Also measure circles between two CPUs: A,B by number, or a pair that shares the "
                "last-level cache (llc), a core (smt) or neither (other); auto takes one of these."
            ),
        ),
        click.option(
            "--clock",
            type=click.Choice(["referenced", "native", "cycles"]),
            help="referenced: also read the core's speed beside each test; native: only the clock; "
            "cycles: count core cycles.  [default: referenced]",
        ),
        click.option(
            "--seed",
            type=int,
            help="Seed of the random order.  [default: from the time; always recorded]",
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


def complain(sentence: object) -> None:
    """Prints a sentence on standard error; what it quotes, such as a console, may be of any
    origin.
    """
    click.echo(f"cyclometer: {one_line(str(sentence), _LONGEST)}", err=True)


def write_output(output: Path, content: str | bytes) -> int:
    """Writes the file that -o names; its size in bytes. Raises UsageError if it cannot."""
    data = content.encode() if isinstance(content, str) else content
    try:
        output.write_bytes(data)
    except OSError as error:
        raise UsageError(
            f"{output} cannot be written ({error.strerror}); choose another -o"
        ) from error
    return len(data)


def write_page(output: Path, text: str) -> None:
    """As `write_output`, and says how large the file is."""
    size_bytes = write_output(output, text)
    click.echo(f"{output}: {size_bytes / 1e6:.1f} MB", err=True)


def print_json(document: Struct) -> None:
    """Prints one of the documents of `report.documents.kinds.KINDS` on standard output."""
    from cyclometer.report.documents import kinds

    click.echo(kinds.dumps(document))


def note_broken(plugins: Sequence[BrokenPlugin]) -> None:
    """Reports installed packages that cannot provide what they declare; the command goes on."""
    for error in plugins:
        complain(error)
