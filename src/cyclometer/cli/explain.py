# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer explain`: where one turn of a circle spent its time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from cyclometer.cli import assignments, sampled, spans
from cyclometer.cli.common import (
    image_options,
    kernel_options,
    memory_options,
    print_json,
    write_page,
)
from cyclometer.cli.progress import Display
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.explain.evidence import Evidence
    from cyclometer.explain.explanation import Explanation
    from cyclometer.record.schema import Flow
    from cyclometer.record.span import Wanted
    from cyclometer.targets.api import Request

_DEFAULT = "default"


@click.command()
@click.argument("operands", nargs=-1, metavar="[SIDE] KEY | --diff A B KEY")
@click.option(
    "--target",
    help="What to trace; see `cyclometer list`.  [default: qemu-linux with --kernel, else "
    "qemu-virt]",
)
@assignments.listed_option(
    "--config", help="How to build the reference kernel, such as mcs=on,timer=mtime."
)
@kernel_options
@memory_options
@image_options
@click.option(
    "--watchdog",
    "watchdog_s",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    help="End a boot after this time.  [default: 300; 60 with --from or --every; 600 on RTL]",
)
@click.option(
    "--from",
    "start",
    metavar="PLACE",
    help="Explain what --image executes from here: a symbol, SYMBOL+0x1c, or 0x80001234.",
)
@click.option(
    "--to",
    "stop",
    metavar="PLACE",
    help="End the window of --from or --every here.  [default: where the function returns]",
)
@click.option(
    "--skip", type=click.IntRange(0), default=0, help="Skip this many executions of --from."
)
@click.option(
    "--every",
    metavar="PLACE",
    help="List all that --image executes from here to --to, grouped by the path taken.",
)
@click.option("--diff", is_flag=True, help="Show what changes in a turn from side A to side B.")
@click.option(
    "--tail",
    is_flag=True,
    help="Explain the rare, longer turn: what it does beyond the common one, and how often.",
)
@click.option(
    "--exact",
    is_flag=True,
    help=("For a circle that is sampled, also print what the same kernel executes under QEMU."),
)
@click.option(
    "--hart",
    type=click.IntRange(0),
    default=0,
    help="Hart to explain, of several; the client runs on hart 0.",
)
@click.option("--lines", is_flag=True, help="Also print every instruction below its source line.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all views to this HTML file; or the call stacks, if its name ends with .folded, "
    ".speedscope.json, .perfetto.json or .callgrind.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all views as JSON.")
def command(
    operands: tuple[str, ...],
    target: str | None,
    config: dict[str, str],
    kernel: str | None,
    append: str | None,
    cpu_model: str | None,
    symbols: str | None,
    memory_latency_cyc: int | None,
    memory_jitter: int | None,
    start: str | None,
    stop: str | None,
    skip: int,
    every: str | None,
    diff: bool,
    tail: bool,
    exact: bool,
    hart: int,
    lines: bool,
    output: Path | None,
    as_json: bool,
    **of_image: Any,
) -> None:
    """Show where the time of one turn of circle KEY goes, instruction by instruction.

    A circle of the running Linux is sampled while it is timed, and reported by function; --exact
    also boots the image of the running kernel under QEMU and counts its instructions. On an
    emulator or a simulated core, every instruction of a turn is traced.

    SIDE says what to explain: a bundle that `run --trace` made; an ELF image; a target, such as
    rocket; a target with a configuration, such as qemu-virt:mcs=on or rocket:memory_latency=20; or
    a configuration of --target, such as mcs=on. `default` is --target in its default configuration,
    which is also traced if no SIDE is given.

    --from and --every take no KEY: they explain what an image executes from one address to another.
    The image needs none of Cyclometer's code.

    Example: cyclometer explain pipe.round_trip.cross.equal

    Example: cyclometer explain --diff default mcs=on endpoint.round_trip.words_0.same -o why.html

    Example: cyclometer explain --kernel bzImage --symbols vmlinux syscall.null

    Example: cyclometer explain --kernel bzImage --tail syscall.null

    Example: cyclometer explain --image kernel.elf --every handle_syscall
    """
    from cyclometer.targets.api import Request

    asked = spans.wanted(start, stop, skip, every)
    _refuse(tail, diff, hart, asked)
    if asked is not None:
        request = Request(
            symbols=symbols,
            memory_latency_cyc=memory_latency_cyc,
            memory_jitter=memory_jitter,
            **of_image,
        )
        _between(operands, asked, target or "qemu-virt", request, diff, output, as_json, lines)
        return
    *sides, key = operands or ("",)
    if not key or (len(sides) != 2 if diff else len(sides) > 1):
        raise UsageError(
            "give KEY, or SIDE KEY, or --diff A B KEY; `cyclometer explain --help` says what a "
            "side is"
        )
    settings = {
        "kernel": kernel,
        "append": append,
        "cpu_model": cpu_model,
        "symbols": symbols,
        "memory_latency": memory_latency_cyc,
        "memory_jitter": memory_jitter,
    }
    config |= {name: str(value) for name, value in settings.items() if value is not None}
    sampling = not tail and not hart
    if sampling and (found := sampled.samples(sides, key, target, config, exact)) is not None:
        sampled.report_samples(found, output, as_json)
        return
    if exact:
        raise UsageError("--exact adds exact counts to samples; what is traced is exact already")
    image = Request(**of_image)
    _traced(sides, key, target, config, image, diff, tail, hart, output, as_json, lines)


def _refuse(tail: bool, diff: bool, hart: int, asked: Wanted | None) -> None:
    """Raises UsageError for options that do not go together."""
    if tail and diff:
        raise UsageError("--tail compares turns of one side; leave --diff out")
    if hart and (tail or asked is not None):
        raise UsageError("--tail, --from and --every explain hart 0; leave --hart out")


def _traced(
    sides: list[str],
    key: str,
    target: str | None,
    config: dict[str, str],
    image: Request,
    diff: bool,
    tail: bool,
    hart: int,
    output: Path | None,
    as_json: bool,
    lines: bool,
) -> None:
    """Explains a circle whose turns are traced, instruction by instruction."""
    from cyclometer.explain.explanation import explain

    target = target or ("qemu-linux" if "kernel" in config else "qemu-virt")
    from cyclometer.explain.tail import FLOW

    flow = FLOW if tail else None
    found = [
        _evidence(side, key, target, config, diff or tail, image, flow)
        for side in sides or [_DEFAULT]
    ]
    if tail:
        _tail(found[0]["steady"], output, as_json)
    elif diff:
        before, after = (explain(roles["steady"], hart=hart) for roles in found)
        _difference(before, after, output, as_json)
    else:
        cold = explain(found[0]["cold"], hart=hart) if "cold" in found[0] else None
        steady = replace(explain(found[0]["steady"], hart=hart), measured=_measured(sides, key))
        _explanation(steady, cold, output, as_json, lines)


def _evidence(
    side: str,
    key: str,
    target: str,
    config: dict[str, str],
    steady_only: bool,
    image: Request,
    flow: Flow | None,
) -> dict[str, Evidence]:
    """Traces of the circle by role, from wherever the side says."""
    from cyclometer.explain import sources
    from cyclometer.targets.api import Progress
    from cyclometer.targets.registry import TARGETS

    if Path(side).is_dir():
        return sources.kept(Path(side), key)
    if Path(side).is_file():
        image, side = replace(image, image=Path(side)), _DEFAULT
    name, options = _side(side)
    if not name and options.startswith("kernel=") and not target.endswith("-linux"):
        name = "qemu-linux"
    one = TARGETS.load(name or target)
    chosen = {**config, **assignments.assignments(options)}
    latency_cyc, jitter = (_number(chosen, name) for name in ("memory_latency", "memory_jitter"))
    symbols = chosen.get("symbols")
    if image.image is not None:
        chosen, listed = {}, {key}  # it prints its circles itself
    else:
        listed = {contract.key for contract in one.circles(chosen)[1]}
    if key not in listed:
        raise UsageError(f"{one.name} has no circle {key!r} in this configuration; {_advice(key)}")
    request = replace(
        image,
        only=(key,),
        config=chosen,
        symbols=symbols if image.image else None,
        memory_latency_cyc=latency_cyc,
        memory_jitter=jitter,
        flow=flow,
    )
    with Display() as display:
        progress = Progress(display.show)
        return sources.trace(one, request, [key], steady_only, progress=progress)[key]


def _between(
    operands: tuple[str, ...],
    asked: Wanted,
    target: str,
    request: Request,
    diff: bool,
    output: Path | None,
    as_json: bool,
    lines: bool,
) -> None:
    """What ran between two addresses of an image, or of two."""
    from cyclometer.explain.span import explain_first
    from cyclometer.targets.registry import TARGETS

    one = TARGETS.load(target)
    images = [Path(operand) for operand in operands] or [request.image or Path()]
    if len(images) != 1 + diff:
        raise UsageError(
            "--from and --every take no KEY; name one image, or two with --diff: "
            "`cyclometer explain --diff A.elf B.elf --from SYMBOL`"
        )
    found = [spans.traced(one, replace(request, image=image), asked) for image in images]
    if asked.most is None:
        spans.tell_paths(one, found[0], asked, output, as_json)
        return
    explained = [explain_first(one.name, spanned, asked) for spanned in found]
    if diff:
        _difference(explained[0], explained[1], output, as_json)
    else:
        _explanation(explained[0], None, output, as_json, lines)


def _advice(key: str) -> str:
    """The command that explains a circle, wherever there is one."""
    from cyclometer.targets.registry import TARGETS

    if key in {contract.key for contract in TARGETS.load("qemu-linux").circles()[1]}:
        return f"it is one of Linux: `cyclometer explain --kernel IMAGE {key}`"
    return "`cyclometer list` names those it has"


def _side(words: str) -> tuple[str, str]:
    """Target and configuration of a side that is not a bundle; both empty where the options say
    all.
    """
    name, _, options = words.partition(":")
    if "=" in name:
        return "", words
    return "" if name == _DEFAULT else name, options


def _number(chosen: dict[str, str], name: str) -> int | None:
    """Takes a setting of the machine, as records name it, out of a configuration. Raises UsageError
    for no number.
    """
    value = chosen.pop(name, "off")
    if not value.isdecimal() and value != "off":
        raise UsageError(f"{name}={value} is not a number; write it as {name}=20")
    return int(value) if value.isdecimal() else None


def _measured(sides: Sequence[str], key: str) -> Fraction | None:
    """What the tests of a side that is a bundle say of the circle, to a hundredth."""
    from cyclometer.bundle import store
    from cyclometer.estimate.rows import estimates

    if not sides or not (Path(sides[0]) / store.IDENTITY).exists():
        return None
    bundle = store.read(Path(sides[0]))
    found = [e for e in estimates(bundle, course=False) if e.contract.key == key and e.valid]
    latency = found[0].latency if len(found) == 1 else None
    return None if latency is None else Fraction(round(latency.value, 2)).limit_denominator(100)


def _explanation(
    steady: Explanation, cold: Explanation | None, output: Path | None, as_json: bool, lines: bool
) -> None:
    from cyclometer.report import explained
    from cyclometer.report import explanation as report

    if output is not None:
        from cyclometer.report.html import explanation as html

        _save(output, [steady], lambda: html.document(steady, cold))
    document = explained.circle(steady, cold)
    if as_json:
        print_json(document)
    else:
        report.show(document, lines)


def _tail(evidence: Evidence, output: Path | None, as_json: bool) -> None:
    from cyclometer.explain.tail import tail
    from cyclometer.report import explained
    from cyclometer.report import tail as report

    found = tail(evidence)
    if output is not None:
        from cyclometer.report.html import explanation as html

        both = [found.difference.before, found.difference.after]
        _save(output, both, lambda: html.tail_document(found))
    document = explained.tail(found)
    if as_json:
        print_json(document)
    else:
        report.show(document)


def _difference(
    before: Explanation, after: Explanation, output: Path | None, as_json: bool
) -> None:
    from cyclometer.explain.difference import difference
    from cyclometer.report import explained
    from cyclometer.report import explanation as report

    changed = difference(before, after)
    if output is not None:
        from cyclometer.report.html import explanation as html

        both = [changed.before, changed.after]
        _save(output, both, lambda: html.difference_document(changed))
    document = explained.difference(changed)
    if as_json:
        print_json(document)
    else:
        report.show_difference(document)


def _save(output: Path, turns: Sequence[Explanation], page: Callable[[], str]) -> None:
    """Writes the stacks of `turns` in the format that the file's name asks for, else the page."""
    from cyclometer.report import stack_files

    stacks = stack_files.text(output, [stack_files.of_turn(turn) for turn in turns])
    write_page(output, page() if stacks is None else stacks)
