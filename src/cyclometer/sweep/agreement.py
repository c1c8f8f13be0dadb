# SPDX-License-Identifier: BSD-2-Clause
"""Whether the exact targets of two hosts count alike, to the byte: what lets a sweep put its tasks
anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from cyclometer.bundle.model import Bundle
from cyclometer.errors import CyclometerError, MeasurementFailed, NotComparable
from cyclometer.record.schema import Flow
from cyclometer.report.documents.machine import HostCounts, TargetAgreement, TargetCounts
from cyclometer.sweep.task import facts
from cyclometer.targets.api import SILENT, Progress, Request
from cyclometer.targets.registry import TARGETS
from cyclometer.targets.ssh.line import Line
from cyclometer.text import printable

ASKED = ("qemu-virt", "qemu-sifive_u")
"""Targets that count everything within seconds."""
_FLOW = Flow(initial=4, delta=4, groups=2, tests=2)
_COMMAND = "cyclometer doctor --exact --json"
_WAIT_S = 900  # for the other host, which may have to build its kernels first


def counted(progress: Progress = SILENT) -> HostCounts:
    """What the exact targets of this host count."""
    return HostCounts({name: _counted(name, progress) for name in ASKED})


def _counted(name: str, progress: Progress) -> TargetCounts:
    target = TARGETS.load(name)
    try:
        if lacks := target.missing():
            raise NotComparable(lacks)
        bundle = target.measure(Request(runs=1, flow=_FLOW), {}, progress).bundle
    except CyclometerError as error:
        return TargetCounts(facts(name), {}, str(error))
    return TargetCounts(facts(name), _rows(bundle), "")


def _rows(bundle: Bundle) -> dict[str, list[int]]:
    samples = bundle.samples
    return {
        f"{row.contract.key} {row.method}": [int(v) for v in samples.value[samples.of_row(number)]]
        for number, row in enumerate(bundle.identity.rows)
    }


def asked(line: Line) -> HostCounts:
    """What the exact targets of another host count, by the program that is installed there.

    Raises NotComparable if there is none, or one that answers otherwise.
    """
    try:
        answer = line.ask(_COMMAND, wait_s=_WAIT_S)
    except MeasurementFailed as error:
        raise NotComparable(
            f"{error}; install this Cyclometer where `ssh {line.host} cyclometer` finds it"
        ) from error
    try:
        return printable(msgspec.json.decode(answer, type=HostCounts))
    except msgspec.MsgspecError as error:
        raise NotComparable(
            f"{line.host} has another version of Cyclometer ({error}); install this one there"
        ) from error


def compared(here: HostCounts, there: HostCounts) -> list[TargetAgreement]:
    """Target by target; one that a host lacks agrees with nothing."""
    nothing = TargetCounts({}, {}, "is not asked for there")
    return [
        _compared(name, ours, there.targets.get(name, nothing))
        for name, ours in here.targets.items()
    ]


def _compared(name: str, here: TargetCounts, there: TargetCounts) -> TargetAgreement:
    keys = [*here.rows, *(key for key in there.rows if key not in here.rows)]
    differing = [key for key in keys if here.rows.get(key) != there.rows.get(key)]
    return TargetAgreement(
        name,
        len(keys),
        differing,
        _unlike(here.versions, there.versions),
        here.missing or (there.missing and f"there: {there.missing}"),
    )


def _unlike(here: Mapping[str, str], there: Mapping[str, str]) -> dict[str, list[str]]:
    names = sorted({*here, *there})
    pairs = {name: [here.get(name, ""), there.get(name, "")] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def agree(found: Sequence[TargetAgreement]) -> bool:
    """Whether a target was counted on both hosts, and none differs that was."""
    both = [one for one in found if not one.missing]
    return bool(both) and not any(one.differing for one in both)


def sentence(one: TargetAgreement) -> str:
    """What is to be said of a target."""
    if one.missing:
        return f"{one.target}: not compared ({one.missing})"
    unlike = "; ".join(f"{name}: {a} here, {b} there" for name, (a, b) in one.unlike.items())
    because = f" ({unlike})" if unlike else ""
    if not one.differing:
        return f"{one.target}: {one.rows} rows agree to the byte{because}"
    first = ", ".join(one.differing[:3])
    return f"{one.target}: {len(one.differing)} of {one.rows} rows differ, as {first}{because}"
