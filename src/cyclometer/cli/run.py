# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer run`: measure a target and store a bundle."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from cyclometer.cli import assignments, common
from cyclometer.cli.progress import Display
from cyclometer.errors import (
    FAILED,
    NOTHING,
    PASS,
    REGRESSED,
    CyclometerError,
    NotComparable,
    UsageError,
)

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle, Problem
    from cyclometer.targets.api import MeasurementResult, Profiler, Progress, Request, Target

_UNSAFE = re.compile(r"[^A-Za-z0-9.+=,-]+")  # what a folder's name had better not hold
_NAME_MAX = 100
_SAMPLE_S = 1.0


def _kbench(_: click.Context, parameter: click.Parameter, value: str | None) -> list[int] | None:
    """`I,D,G,S` as four numbers."""
    if value is None:
        return None
    numbers = [int(part) for part in value.split(",") if part.isdecimal()]
    if len(numbers) != 4 or value.count(",") != 3 or min(numbers[0], *numbers[2:]) < 1:
        raise click.BadParameter(
            "write initial size, delta, groups, tests, as 30,1,5,30", param=parameter
        )
    return numbers


def _axes(
    _: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> list[tuple[str, list[str]]]:
    """Each name with its values; one text may hold several, with spaces between."""
    del parameter
    return [assignments.choices(word) for text in texts for word in text.split()]


def _images(
    _: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> list[tuple[str, Path]]:
    """Each image with its name, or none. A file of the whole text is one without a name."""
    found: list[tuple[str, Path]] = []
    for text in texts:
        name, equals, file = text.partition("=")
        named = bool(equals) and "/" not in name and not Path(text).exists()
        found.append((name, Path(file)) if named else ("", Path(text)))
        if named and not (name and file):
            raise click.BadParameter(f"write {text!r} as NAME=FILE", param=parameter)
    names = [name for name, _ in found if name]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise click.BadParameter(
            f"two images are called {twice}; give each a different name", param=parameter
        )
    return found


@click.command()
@click.option(
    "--target",
    default="linux",
    help="What to measure; see `cyclometer list`.  [default: linux; qemu-linux with --kernel]",
)
@click.option(
    "--only", multiple=True, metavar="GLOB", help="Only circles whose key matches; may be repeated."
)
@click.option(
    "--runs",
    type=click.IntRange(1, 100),
    help="Number of process starts or boots.  [default: 5; 2 on exact clocks]",
)
@click.option(
    "--budget",
    "budget_s",
    callback=common.duration,
    metavar="TIME",
    help="Time for everything, such as 60s or 2m.  [default: 80s]",
)
@click.option("--quick", is_flag=True, help="A first look: on Linux, three short runs in 12 s.")
@click.option(
    "--method",
    type=click.Choice(["accumulated", "direct", "passes"]),
    help="Override each circle's own timing method.",
)
@common.session_options
@click.option(
    "--policy",
    type=click.Choice(["fifo", "other", "batch"]),
    help="Scheduling policy of the participants.  [default: fifo if the kernel allows it]",
)
@click.option(
    "--nice", type=click.IntRange(-20, 19), help="Nice value, with --policy other or batch."
)
@click.option(
    "--slice",
    "slice_s",
    callback=common.duration,
    metavar="TIME",
    help="Slice that participants ask for, such as 3ms, with --policy other or batch.",
)
@click.option(
    "--break-on",
    "break_on_s",
    callback=common.duration,
    metavar="LATENCY",
    help=(
        "Exit with 1 when a one-way circle first takes longer than this, such as 150us, and "
        "keep the kernel's trace."
    ),
)
@click.option(
    "--watchdog",
    "watchdog_s",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    help="End a visit or a boot after this time.  [default: 10 for a visit; by target for a boot]",
)
@assignments.listed_option(
    "--config",
    help=(
        "How to build the reference kernel, such as mcs=on; a label for the rows of --image; or a "
        "target's own settings."
    ),
)
@click.option(
    "--image",
    "images",
    multiple=True,
    callback=_images,
    metavar="[NAME=]FILE",
    help="Your kernel image instead of the reference kernel; may be repeated, with a NAME for each "
    "bundle.",
)
@common.machine_options
@common.kernel_options
@common.memory_options
@click.option(
    "--circles",
    multiple=True,
    metavar="FILE.c",
    help="Add the circles of a C file or of an installed package; may be repeated.",
)
@click.option(
    "--exec",
    multiple=True,
    metavar="[NAME=]COMMAND",
    help="Time a program: each request that it answers, or else each run; may be repeated.",
)
@click.option(
    "--matrix",
    multiple=True,
    callback=_axes,
    metavar="NAME=VALUE,...",
    help="Measure every combination of values, such as mcs=off,on; may be repeated.",
)
@click.option(
    "--kbench",
    callback=_kbench,
    metavar="I,D,G,S",
    help="Measure KBench's case with these test sizes, such as 30,1,5,30; print its table.",
)
@click.option("--trace", is_flag=True, help="Keep a trace of each circle for `cyclometer explain`.")
@click.option(
    "--allow-invalid",
    is_flag=True,
    help="Exit with 0 even if a circle failed or broke its contract.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="New folder for the bundle.  [default: results/TIME-TARGET]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the estimates as JSON instead of the table."
)
def command(
    target: str,
    only: tuple[str, ...],
    config: dict[str, str],
    matrix: list[tuple[str, list[str]]],
    images: list[tuple[str, Path]],
    kbench: list[int] | None,
    trace: bool,
    allow_invalid: bool,
    output: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Measure a target and store a bundle.

    All runs and circles are visited in one random order, which is recorded. Ctrl-C ends the
    measurement and keeps what was measured. With several images, or with --matrix, each one gets a
    bundle below -o, and `cyclometer matrix` compares them.

    Exit codes: 0 if every circle has a valid latency, 1 if --break-on ended the measurement, 5 if a
    circle failed or broke its contract, or the measurement ended early, 6 if no circle has a valid
    latency.

    Example: cyclometer run --only 'pipe.*' --budget 20s -o results/before

    Example: cyclometer run --target qemu-linux --kernel arch/x86/boot/bzImage --only 'pipe.*'

    Example: cyclometer run --only 'timer.*' --break-on 150us --budget 10m -o results/late
    """
    from cyclometer.bundle import store
    from cyclometer.record.schema import Flow
    from cyclometer.targets.api import Request

    if asked.get("kernel") and target == "linux":
        target = "qemu-linux"  # nothing else boots a kernel
    # every other option has the name of the request's field
    request = Request(
        only=only or ((_kbench_circle(target, config),) if kbench else ("*",)),
        config=config,
        flow=Flow(*kbench) if kbench else None,
        **asked,
    )
    if trace:
        _refuse_untraceable(target)
    if matrix and images:
        raise UsageError(
            "--matrix would measure one image under several names; run each image by itself and "
            "label it with --config"
        )
    path = output or _default_path(target)
    wanted = _of_images(request, images, path) if images else _product(request, matrix, path)
    for _, path in wanted:
        store.refuse_existing(path)
    finish = partial(
        _finish,
        target=target,
        as_json=as_json,
        kbench=kbench is not None,
        trace=trace,
        allow_invalid=allow_invalid,
    )
    sys.exit(max(finish(one, chosen, path) for one, chosen, path in _measure_all(target, wanted)))


def _refuse_untraceable(target: str) -> None:
    """Before anything is measured."""
    from cyclometer.targets.api import Profiler, Tracer
    from cyclometer.targets.registry import TARGETS

    one = TARGETS.load(target)
    if not isinstance(one, Tracer | Profiler):
        raise NotComparable(
            f"target {target} records no instruction traces; leave --trace out, or trace a Linux "
            "kernel under QEMU: `cyclometer run --target qemu-linux --kernel IMAGE --trace`"
        )


def _kbench_circle(target: str, config: dict[str, str]) -> str:
    """KBench's own case: a thread signals one of higher priority, both in one space."""
    if target.endswith("linux") or target.startswith("ssh://"):
        return "notification.low_to_high.same"
    variant = "k_to_k" if config.get("userspace") == "off" else "u_to_u.same"
    return f"notification.round_trip.low_to_high.{variant}"


def _product(
    request: Request, axes: Sequence[tuple[str, list[str]]], path: Path
) -> list[tuple[Request, Path]]:
    """One request and bundle per combination of the axes' values; the request itself if there are
    no axes.
    """
    if not axes:
        return [(request, path)]
    found: dict[Path, Request] = {}
    for values in itertools.product(*(values for _, values in axes)):
        config = {name: value for (name, _), value in zip(axes, values, strict=True)}
        folder = _folder(path, "_".join(f"{name}-{value}" for name, value in config.items()), found)
        found[folder] = replace(request, config={**request.config, **config})
    return [(one, folder) for folder, one in found.items()]


def _of_images(
    request: Request, images: Sequence[tuple[str, Path]], path: Path
) -> list[tuple[Request, Path]]:
    """One request and bundle per image. A bundle is called by the image's name, or those of several
    as their files.
    """
    found: dict[Path, Request] = {}
    for name, image in images:
        alone = len(images) == 1 and not name
        folder = path if alone else _folder(path, name or image.stem, found)
        found[folder] = replace(request, image=image)
    return [(one, folder) for folder, one in found.items()]


def _folder(path: Path, words: str, taken: Container[Path]) -> Path:
    """A bundle of several below `path`, with a number where names end alike or come twice."""
    first = path / _UNSAFE.sub("_", words)[-_NAME_MAX:]
    numbered = (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))
    return next(folder for folder in itertools.chain((first,), numbered) if folder not in taken)


def _finish(
    measured: MeasurementResult | CyclometerError,
    request: Request,
    path: Path,
    target: str,
    as_json: bool,
    kbench: bool,
    trace: bool,
    allow_invalid: bool,
) -> int:
    """Stores and prints one measurement of several; the exit code it deserves."""
    if isinstance(measured, CyclometerError):
        common.complain(f"{path.name}: {measured}")
        return measured.exit_code
    traces, untraced = _traces(target, request, measured) if trace else ({}, [])
    stored = _store(measured, path, traces)
    if kbench:
        _print_kbench(stored)
    else:
        _print(stored, as_json)
    click.echo(f"stored in {stored.path}", err=True)
    if not as_json and not kbench:
        _suggest(stored, path)
    for reason in dict.fromkeys(untraced):  # a steady and a cold turn fail alike
        common.complain(f"not traced: {reason}")
    if measured.broken:
        _tell_what_broke(stored)
    if measured.interrupted:
        click.echo(
            "cyclometer: interrupted; the bundle holds what was measured until then", err=True
        )
    if measured.above:
        kept = ", ".join(str(path / name) for name in measured.files)
        click.echo(f"cyclometer: {measured.above}; the kernel's trace is in {kept}", err=True)
        return REGRESSED
    if measured.interrupted or measured.broken or untraced:
        return FAILED
    return PASS if allow_invalid else _validity(stored)


def _validity(bundle: Bundle) -> int:
    """The exit code that the circles asked for deserve: 6 if none has a valid latency, 5 if one
    failed or broke its contract.
    """
    from cyclometer.estimate.rows import estimates

    found = estimates(bundle, course=False)
    if not any(e.valid for e in found):
        click.echo("cyclometer: no circle has a valid latency", err=True)
        return NOTHING
    bad = [e.contract.key for e in found if e.set_aside.get("invalid") and not e.valid]
    failed = {p.where.removeprefix("circle ") for p in bundle.identity.problems if _failed(p)}
    if names := [*dict.fromkeys(bad), *sorted(failed)]:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        sentence = f"{', '.join(names[:3])}{more} failed or broke the contract"
        common.complain(f"{sentence}; --allow-invalid accepts that")
    return FAILED if names else PASS


def _failed(problem: Problem) -> bool:
    return problem.kind == "failed" and problem.where.startswith("circle ")


def _tell_what_broke(bundle: Bundle) -> None:
    for problem in bundle.identity.problems:
        if problem.kind == "failed":
            common.complain(f"{problem.where}: {problem.what}")


def _suggest(bundle: Bundle, path: Path) -> None:
    """Prints commands that make sense next, with the circle of this bundle to look at first."""
    from cyclometer.estimate.rows import estimates
    from cyclometer.report.brief import worth_a_look

    first = worth_a_look(estimates(bundle, course=False))
    if first is None:
        return
    estimate, why = first
    click.echo(
        f"next: cyclometer show {path} --circle {estimate.contract.key}{why and f'  # {why}'}\n"
        f"      cyclometer report {path} -o report.html\n"
        f"      cyclometer compare {path} AFTER  # AFTER: another `cyclometer run -o AFTER`",
        err=True,
    )


def _measure_all(
    target: str, wanted: Sequence[tuple[Request, Path]]
) -> Iterator[tuple[MeasurementResult | CyclometerError, Request, Path]]:
    """Measures in order until an interrupt, or all at once where the target shares out the machine
    itself.

    One of several that fails stands as its error in the others' place; one alone raises it. No
    progress is on display while the caller prints.
    """
    from cyclometer.targets.api import MeasurementResult, Progress
    from cyclometer.targets.registry import TARGETS

    one = TARGETS.load(target)
    if len(wanted) > 1 and one.concurrent:
        with Display() as display:
            found = _attempts_at_once(
                one, [request for request, _ in wanted], Progress(display.show)
            )
        yield from ((measured, *pair) for measured, pair in zip(found, wanted, strict=True))
        return
    attempt = _measure if len(wanted) == 1 else _attempt
    for request, path in wanted:
        with Display() as display:
            measured = attempt(one, request, Progress(display.show))
        yield measured, request, path
        if isinstance(measured, MeasurementResult) and measured.interrupted:
            return


def _measure(one: Target, request: Request, progress: Progress) -> MeasurementResult:
    from cyclometer import environment

    return one.measure(request, environment.collect(), progress)


def _attempt(
    one: Target, request: Request, progress: Progress
) -> MeasurementResult | CyclometerError:
    try:
        return _measure(one, request, progress)
    except CyclometerError as error:
        return error


def _attempts_at_once(
    one: Target, requests: Sequence[Request], progress: Progress
) -> list[MeasurementResult | CyclometerError]:
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(len(requests)) as pool:
        started = [pool.submit(_attempt, one, request, progress) for request in requests]
        try:
            wait(started)
        except KeyboardInterrupt:
            progress.stop.set()
        return [future.result() for future in started]


def _traces(
    target: str, request: Request, measured: MeasurementResult
) -> tuple[dict[str, bytes], list[str]]:
    """Kept traces of the circles that were measured, and why there are not more: no reason to lose
    the measurement.
    """
    from cyclometer.explain import sources
    from cyclometer.targets.api import Profiler
    from cyclometer.targets.registry import TARGETS

    keys = list(dict.fromkeys(row.contract.key for row in measured.bundle.identity.rows))
    if isinstance(one := TARGETS.load(target), Profiler):
        return _profiles(one, request, keys)
    click.echo(f"tracing a turn of {len(keys)} circles", err=True)
    untraced: list[str] = []
    try:
        return sources.files(sources.trace(one, request, keys, untraced=untraced)), untraced
    except CyclometerError as error:
        return {}, [str(error)]


def _profiles(
    one: Profiler, request: Request, keys: Sequence[str]
) -> tuple[dict[str, bytes], list[str]]:
    """Kept samples of each circle, and why some have none."""
    from cyclometer.explain import sources

    click.echo(f"sampling {len(keys)} circles for {_SAMPLE_S:g} s each", err=True)
    files: dict[str, bytes] = {}
    untold: list[str] = []
    for key in keys:
        try:
            files |= sources.profile_file(one.profile(request, key, _SAMPLE_S))
        except CyclometerError as error:
            untold.append(str(error))
    return files, untold


def _store(measured: MeasurementResult, path: Path, traces: dict[str, bytes]) -> Bundle:
    from cyclometer.bundle import store

    files = {store.CONSOLE: measured.console, **measured.files, **traces}
    return store.write(measured.bundle, path, files)


def _default_path(target: str) -> Path:
    name = _UNSAFE.sub("-", target)
    return common.STORE / f"{datetime.now().astimezone():%Y-%m-%dT%H-%M-%S}-{name}"


def _print(bundle: Bundle, as_json: bool) -> None:
    from cyclometer.report import table

    if as_json:
        common.print_json(table.as_json(bundle))
    else:
        table.show(bundle)


def _print_kbench(bundle: Bundle) -> None:
    from cyclometer.report.export import kbench, request
    from cyclometer.targets.linux.plan import REFERENCES

    keys = {row.contract.key for row in bundle.identity.rows}.difference(REFERENCES)
    click.echo(kbench.export(request.make(bundle, tuple(keys))), nl=False)
