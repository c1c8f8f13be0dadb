# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer explain`: where one turn of a circle spent its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import assignments, sampled
from cyclometer.cli.common import kernel_options, memory_options, print_json
from cyclometer.cli.progress import Display
from cyclometer.errors import UsageError

if TYPE_CHECKING:
    from cyclometer.explain.evidence import Evidence
    from cyclometer.record.schema import Flow

_DEFAULT = "default"


@click.command()
@click.argument("operands", nargs=-1, required=True, metavar="[SIDE] KEY | --diff A B KEY")
@click.option(
    "--target",
    help="What to trace; see `cyclometer list`.  [default: qemu-linux with --kernel, else "
    "qemu-virt]",
)
@assignments.listed_option("--config", help="How to build the kernel, as mcs=on,timer=mtime.")
@kernel_options
@memory_options
@click.option(
    "--image",
    type=click.Path(path_type=Path),
    help="A kernel image of your own; --symbols A,B adds ELF files of its programs.",
)
@click.option("--diff", is_flag=True, help="What changes in a turn from side A to side B.")
@click.option(
    "--tail", is_flag=True, help="What the turn that differs does beyond the common one, how often."
)
@click.option("--lines", is_flag=True, help="Print every instruction below its source line, too.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all views as one HTML file; or the stacks, if it ends with .folded, "
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
    image: Path | None,
    diff: bool,
    tail: bool,
    lines: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Show where the time of one turn of circle KEY goes, instruction by instruction.

    A circle of the Linux at hand is sampled while it is timed, and reported by function.

    A SIDE is a bundle that `run --trace` made; a target, as rocket; a target and its configuration,
    as qemu-virt:mcs=on or rocket:memory_latency=20; or the configuration of --target, as mcs=on.
    `default` means --target with its default configuration; it is also traced if no SIDE is given.

    Example: cyclometer explain --diff default mcs=on endpoint.round_trip.words_0.same -o why.html

    Example: cyclometer explain pipe.round_trip.cross.equal

    Example: cyclometer explain --kernel bzImage --tail syscall.null

    Example: cyclometer explain --target qemu-linux --kernel bzImage --symbols vmlinux syscall.null
    """
    *sides, key = operands
    if len(sides) != 2 if diff else len(sides) > 1:
        raise UsageError(
            "give KEY, or SIDE KEY, or --diff A B KEY; `cyclometer explain --help` says what a "
            "side is"
        )
    machine = {
        "kernel": kernel,
        "append": append,
        "cpu_model": cpu_model,
        "symbols": symbols,
        "memory_latency": memory_latency_cyc,
        "memory_jitter": memory_jitter,
    }
    config |= {name: str(value) for name, value in machine.items() if value is not None}
    if tail and diff:
        raise UsageError("--tail compares turns of one side; give it without --diff")
    if not tail and (samples := sampled.profiles(sides, key, target, config)) is not None:
        sampled.tell(samples, output, as_json, _write)
        return
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
        _difference(found[0], found[1], output, as_json)
    else:
        _explanation(found[0], output, as_json, lines, _measured(sides, key))


def _evidence(
    side: str,
    key: str,
    target: str,
    config: dict[str, str],
    steady_only: bool,
    image: Path | None,
    flow: Flow | None,
) -> dict[str, Evidence]:
    """Traces of the circle by role, from wherever the side says."""
    from cyclometer.explain import sources
    from cyclometer.targets.api import Progress, Request
    from cyclometer.targets.registry import TARGETS

    if Path(side).is_dir():
        return sources.kept(Path(side), key)
    name, options = _side(side)
    if not name and options.startswith("kernel=") and not target.endswith("-linux"):
        name = "qemu-linux"
    one = TARGETS.load(name or target)
    chosen = {**config, **assignments.assignments(options)}
    latency_cyc, jitter = (_number(chosen, name) for name in ("memory_latency", "memory_jitter"))
    symbols = chosen.get("symbols")
    if image is not None:
        chosen, listed = {}, {key}  # it prints its circles itself
    else:
        listed = {contract.key for contract in one.circles(chosen)[1]}
    if key not in listed:
        raise UsageError(f"{one.name} has no circle {key!r} in this configuration; {_advice(key)}")
    request = Request(
        only=(key,),
        config=chosen,
        image=image,
        symbols=symbols if image else None,
        memory_latency_cyc=latency_cyc,
        memory_jitter=jitter,
        flow=flow,
    )
    with Display() as display:
        progress = Progress(display.show)
        return sources.trace(one, request, [key], steady_only, progress=progress)[key]


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
    found: dict[str, Evidence],
    output: Path | None,
    as_json: bool,
    lines: bool,
    measured: Fraction | None,
) -> None:
    from cyclometer.explain.explanation import explain
    from cyclometer.report import explanation as report

    steady, cold = (explain(found[role]) if role in found else None for role in ("steady", "cold"))
    assert steady is not None
    steady = replace(steady, measured=measured)
    if output is not None:
        from cyclometer.report import stack_files
        from cyclometer.report.html import explanation as html

        stacks = stack_files.text(output, [stack_files.of_turn(steady)])
        _write(output, html.document(steady, cold) if stacks is None else stacks)
    if as_json:
        print_json("explanation", report.as_json(steady, cold))
    else:
        report.show(steady, cold, lines)


def _tail(evidence: Evidence, output: Path | None, as_json: bool) -> None:
    from cyclometer.explain.tail import tail
    from cyclometer.report import tail as report

    found = tail(evidence)
    if output is not None:
        from cyclometer.report import stack_files
        from cyclometer.report.html import explanation as html

        sides = [stack_files.of_turn(e) for e in (found.difference.before, found.difference.after)]
        stacks = stack_files.text(output, sides)
        _write(output, html.tail_document(found) if stacks is None else stacks)
    if as_json:
        print_json("tail", report.as_json(found))
    else:
        report.show(found)


def _difference(
    before: dict[str, Evidence], after: dict[str, Evidence], output: Path | None, as_json: bool
) -> None:
    from cyclometer.explain.difference import difference
    from cyclometer.explain.explanation import explain
    from cyclometer.report import explanation as report

    changed = difference(explain(before["steady"]), explain(after["steady"]))
    if output is not None:
        from cyclometer.report import stack_files
        from cyclometer.report.html import explanation as html

        sides = [stack_files.of_turn(e) for e in (changed.before, changed.after)]
        stacks = stack_files.text(output, sides)
        _write(output, html.difference_document(changed) if stacks is None else stacks)
    if as_json:
        print_json("explained-difference", report.difference_json(changed))
    else:
        report.show_difference(changed)


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{output} cannot be written ({error.strerror}); choose another -o"
        ) from error
    click.echo(f"{output}: {len(text.encode()) / 1e6:.1f} MB", err=True)
