# SPDX-License-Identifier: BSD-2-Clause
"""Turns of the reference kernel under QEMU: each is as long as measured, and every view sums to
it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cyclometer.cli import cli
from cyclometer.explain import evidence as evidences
from cyclometer.explain import sources
from cyclometer.explain.difference import difference
from cyclometer.explain.evidence import Evidence
from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.floor import crossings, space_switches, timer_reads
from cyclometer.record.schema import Flow
from cyclometer.record.trace import CAUSES
from cyclometer.targets.api import Request
from cyclometer.targets.qemu import target as qemu
from cyclometer.targets.rocket import target as rocket

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not shutil.which(qemu.EMULATOR) or not shutil.which(qemu.CROSS),
        reason=qemu.virt().missing(),
    ),
]
ON_ROCKET = pytest.mark.skipif(
    bool(rocket.rocket().missing()), reason=rocket.rocket().missing() or "Rocket is here"
)
VIEWS = ("causes", "phases", "modes", "functions", "lines", "instructions", "stacks")
SIGNAL = "notification.round_trip.low_to_high.u_to_u.cross"
# It waits for the timer by reading the time again and again: neither its turns nor its readings are
# alike.
UNSTEADY = "isr.timer.round_trip.kernel"
SEVERAL = {  # pattern, for the boot takes no long list: circle
    "notification.round*": SIGNAL,
    "semaphore.give.w*": "semaphore.give.wake+ctx.u_to_u",
    "endpoint.round*": "endpoint.round_trip.words_10.cross",
    "thread.yield.r*": "thread.yield.round_trip.u_to_u.same",
    "component.i*": "component.invoke.cross",
    "isr.*": "isr.resume.different.thread.user",
    "isr.t*": UNSTEADY,
    "microkit.notify.*": "microkit.notify.cross",
}
SHORT = Flow(initial=4, delta=4, groups=2, tests=1)


def steady(
    board: str, only: tuple[str, ...], keys: list[str] | None = None, **config: str
) -> dict[str, Evidence]:
    target = qemu.QemuTarget(board)
    chosen = keys or [contract.key for contract in target.circles(config)[1]]
    traced = target.trace(Request(only=only, config=config, flow=SHORT), chosen)
    return evidences.gather(target.name, traced, chosen, "steady")


def check(one: Evidence) -> Explanation:
    """A turn as long as measured, in parts that sum to it, which holds what its contract
    counted.
    """
    e, key = explain(one), one.facts.contract.key
    for view in VIEWS:
        assert sum(part.total for part in getattr(e, view)) == e.turn.length, (key, view)
    assert sum(share.total for share in e.floor) in (0, e.length), key
    if key != UNSTEADY:
        assert (e.length, e.turn.exact, e.in_sequence) == (one.latency, True, True), key
    if one.facts.contract.interval.kind == "round_trip" and not key.startswith(
        ("hardware.", UNSTEADY)
    ):
        _check_counts(e, one, one.facts.contract.expect)
    return e


def _check_counts(e: Explanation, one: Evidence, expect: Mapping[str, int]) -> None:
    """What the kernel's counters counted is what the trace shows: privilege and space are right."""
    steps, lead = e.turn.steps, e.turn.lead
    counted = (crossings(steps, lead), space_switches(steps, lead), timer_reads(steps, one.places))
    wanted = (2 * expect["entries"], expect["space_switches"], expect["time_reads"])
    assert counted == tuple(count * e.turn.turns for count in wanted), one.facts.contract.key


@pytest.mark.parametrize(
    ("board", "config"),
    [("virt", {}), ("sifive_u", {"mcs": "on"}), ("virt", {"mcs": "on", "timer": "mtime"})],
)
def test_turns_of_several_kinds(board: str, config: dict[str, str]) -> None:
    found = steady(
        board, (*SEVERAL, *evidences.FLOOR_ONLY), [*SEVERAL.values(), "timer.read.kernel"], **config
    )
    for one in found.values():
        assert check(one).floor


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "config"), [("virt", {}), ("sifive_u", {"mcs": "on"}), ("virt", {"userspace": "off"})]
)
def test_every_circle(board: str, config: dict[str, str]) -> None:
    found = steady(board, ("*",), **config)
    assert len(found) == len(qemu.QemuTarget(board).circles(config)[1])
    for one in found.values():
        check(one)


def test_without_identifiers_spaces_are_told_apart_by_their_tables() -> None:
    e = check(steady("virt", (SIGNAL, *evidences.FLOOR_ONLY), [SIGNAL], asid="off")[SIGNAL])
    assert [part.name for part in e.modes] == [
        "user, space 1",
        "kernel, space 1",
        "kernel, space 2",
        "user, space 2",
    ]
    assert {share.name: share.each for share in e.floor}[
        "address-space switch"
    ] == 2  # satp and the fence


def test_privilege_and_stack_of_a_known_turn() -> None:
    e = check(steady("virt", (SIGNAL, *evidences.FLOOR_ONLY), [SIGNAL])[SIGNAL])
    levels = {e.places[user, pc].function: user for user, pc in e.places}
    assert levels["signal_turns"]
    assert levels["waiter"]
    assert not levels["context_switch"]
    paths = {part.name for part in e.stacks}
    assert any(
        path[-3:] == ("signal_turns", "trap_entry", "sys_notification_signal") for path in paths
    )
    assert any(
        path[:2] == ("waiter", "trap_entry") and path[-1] == "context_switch" for path in paths
    )
    assert any(
        line.name[1:] == ("kernel/trap.S", e.places[i].line) for line in e.lines for i in e.places
    )


def test_the_trap_to_the_monitor_carries_what_rdtime_costs_where_it_traps() -> None:
    """The report on mtime: with mcs=on each switch reads the time, which traps on this machine
    unless mtime is read instead.
    """
    key = "endpoint.send.words_0.same"
    rdtime, mtime = (
        explain(steady("sifive_u", (key, *evidences.FLOOR_ONLY), [key], mcs="on", timer=timer)[key])
        for timer in ("rdtime", "mtime")
    )
    found = difference(mtime, rdtime)
    assert sum(change.change for change in found.functions) == found.whole.change > 0
    monitor = next(change for change in found.modes if change.name == "monitor")
    assert monitor.before == 0
    assert monitor.change > 0.9 * found.whole.change


def test_a_run_keeps_traces_that_explain_themselves(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    words = (
        "run",
        "--target",
        "qemu-virt",
        "--only",
        SIGNAL,
        "--runs",
        "1",
        "--trace",
        "-o",
        str(bundle),
    )
    assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    html = tmp_path / "why.html"
    result = CliRunner().invoke(
        cli, ["explain", str(bundle), SIGNAL, "--json", "-o", str(html)], catch_exceptions=False
    )
    turns = json.loads(result.stdout)
    assert turns["steady"]["total"] == turns["steady"]["latency"] == 417 or turns["steady"]["exact"]
    assert set(turns) == {"schema", "steady", "cold"}
    assert html.stat().st_size < 1 << 20
    assert np.isclose(
        sum(share["total"] for share in turns["steady"]["floor"]), turns["steady"]["total"]
    )
    kept = sources.kept(bundle, SIGNAL)
    shown = json.loads(
        CliRunner().invoke(cli, ["show", str(bundle), "--json"], catch_exceptions=False).stdout
    )
    assert f"{int(kept['steady'].latency)}" in json.dumps(shown)


def on_rocket(target: rocket.CoreTarget, keys: list[str]) -> None:
    """Every cycle of a turn has a cause; the turn is what the core does again and again."""
    traced = target.trace(
        Request(only=(*keys, *evidences.FLOOR_ONLY), flow=target.trace_flow), keys
    )
    for key, one in evidences.gather(target.name, traced, keys, "steady").items():
        e = explain(one)
        for view in VIEWS:
            assert sum(part.total for part in getattr(e, view)) == e.turn.length, (key, view)
        assert sum(share.total for share in e.floor) == e.length
        assert e.in_sequence or key == UNSTEADY, key
        assert e.whole.causes[CAUSES.index("unattributed")] <= 0.03 * e.turn.length, key
        assert e.whole.causes[CAUSES.index("issue")] <= e.whole.instructions
        if one.facts.contract.interval.kind == "round_trip" and not key.startswith(
            ("hardware.", UNSTEADY)
        ):
            _check_counts(e, one, one.facts.contract.expect)


@ON_ROCKET
@pytest.mark.parametrize(
    "target", [rocket.rocket(), pytest.param(rocket.rocket_small(), marks=pytest.mark.long)]
)
def test_turns_on_the_rocket_core(target: rocket.CoreTarget) -> None:
    on_rocket(target, [SIGNAL, "semaphore.give.wake+ctx.u_to_u"])


@ON_ROCKET
@pytest.mark.long
def test_every_circle_on_the_rocket_core() -> None:
    on_rocket(rocket.rocket(), [contract.key for contract in rocket.rocket().circles()[1]])


@ON_ROCKET
@pytest.mark.long
def test_what_carries_the_difference_between_two_cores() -> None:
    """Smaller caches and no branch prediction: the same instructions, more cycles, each with its
    cause.
    """
    key = "endpoint.round_trip.words_0.same"
    targets, request = (rocket.rocket(), rocket.rocket_small()), Request(only=(key,))
    before, after = (
        explain(sources.trace(one, request, [key], steady_only=True)[key]["steady"])
        for one in targets
    )
    found = difference(before, after)
    assert before.a_turn(before.whole.instructions) == after.a_turn(after.whole.instructions)
    assert sum(change.change for change in found.causes) == found.whole.change > 0
    assert {"icache", "dcache", "branch"} <= {
        change.name for change in found.causes if change.change > 0
    }
