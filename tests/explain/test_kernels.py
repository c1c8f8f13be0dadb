# SPDX-License-Identifier: BSD-2-Clause
"""Two kernels compared: renamed functions are one, the mail is plain and narrow, every change has
its functions, and time stands beside counts.
"""

from __future__ import annotations

import os
import re
import signal
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from cyclometer.explain import kernels, renames
from cyclometer.explain.difference import difference
from cyclometer.explain.explanation import Explanation, explain
from cyclometer.explain.kernels import KernelRow, Kernels
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.trace import TraceResult
from cyclometer.report import kernel_mail as mail
from cyclometer.targets.api import Request
from cyclometer.targets.qemu_linux.target import QemuLinuxTarget
from tests.explain import machine

FACTS = {
    "image.name": "vmlinuz",
    "target_kernel": "6.1.0",
    "qemu": "QEMU emulator version 7.2.22 (Debian)",
    "cpu_model": "EPYC-Rome-v1",
    "cpu_lacks": "rdseed sha-ni",
    "build.banner": "Linux version 6.1.0 (x@y) (gcc-12) #1",
    "build.command_line": "console=ttyS0",
    "config.CONFIG_PREEMPT": "y",
    "config.CONFIG_SOUND": "m",
}


def killed(*_: object) -> None:
    """In place of what traces, in a process of its own."""
    os.kill(os.getpid(), signal.SIGKILL)


def explained(extra: int, renamed: dict[str, str] | None = None) -> Explanation:
    """A turn of the made-up machine, with some functions by other names."""
    evidence = machine.evidence([extra, extra])
    names = renamed or {}

    def named(place: Place) -> Place:
        return Place(
            names.get(place.function, place.function),
            place.text,
            place.file,
            place.line,
            place.starts,
            place.insn,
        )

    places = AddressMap(
        {pc: named(place) for pc, place in evidence.places.kernel.items()}, evidence.places.user
    )
    return explain(replace(evidence, places=places))


def row(extra: int, renamed: dict[str, str] | None = None, **fields: Any) -> KernelRow:
    old, new = explained(0), explained(extra, renamed)
    one = KernelRow("thing.poke", (float(old.length),), (float(new.length),))
    return replace(kernels._with_functions(one, ({one.key: old}, {one.key: new})), **fields)


def found(*rows: KernelRow, **changed: str) -> Kernels:
    return Kernels(("a/bzImage", "b/bzImage"), list(rows), (FACTS, {**FACTS, **changed}))


def letter(compared: Kernels, timed: Any = None) -> str:
    """The mail of two boots per side."""
    command = ["cyclometer", "kdiff", "a/bzImage", "b/bz Image"]
    return mail.text(mail.as_json(compared, timed or {}, 2), command)


def test_functions_sum_to_the_change_and_the_largest_comes_first() -> None:
    one = row(40)
    assert (one.change, one.explained) == (40, Fraction(40))
    assert [c.name for c in one.functions] == ["poke"]
    assert sum(c.change for c in one.functions) == 40


def test_a_renamed_function_is_one_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renames, "_SHORTEST", 2)
    one = row(0, {"sys_poke": "sys_prod"})
    assert [c.name for c in difference(explained(0), explained(0, {"sys_poke": "x"})).functions]
    assert one.functions == ()  # as long as before under its new name
    longer = row(7, {"poke": "prod"})
    assert [(c.name, c.change) for c in longer.functions] == [("poke -> prod", 7)]


def test_calls_inline_are_named_below_their_function_by_their_new_line() -> None:
    old, new = (
        replace(
            turn,
            places={
                at: Place(place.function, inlined=f"add (lib/a.c:{line})")
                for at, place in turn.places.items()
            },
        )
        for turn, line in ((explained(0), 7), (explained(40), 9))
    )
    one = KernelRow("thing.poke", (float(old.length),), (float(new.length),))
    one = kernels._with_functions(one, ({one.key: old}, {one.key: new}))
    assert [(c.name, c.change) for c in one.inlined["poke"]] == [("add (lib/a.c:9)", 40)]
    lines = letter(found(one)).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("       +40  poke"))
    assert lines[at + 1] == "            +40 in add (lib/a.c:9), inline"


def test_functions_with_other_bodies_are_not_paired() -> None:
    assert not renames._likeness(renames._Known(["mov"] * 20), renames._Known(["add"] * 20))


def test_a_mail_is_plain_narrow_and_signed() -> None:
    changed = {"build.banner": "Linux version 6.2.0 (x@y)", "config.CONFIG_PREEMPT": "n"}
    text = letter(found(row(40), **changed))
    assert text.isascii()
    assert all(len(line) <= mail.WIDTH and line == line.rstrip() for line in text.splitlines())
    length = machine.LENGTH
    assert re.search(rf"^thing.poke +{length} +{length + 40} +\+40 \(\+\d+.\d+ %\)$", text, re.M)
    assert "\n       +40  poke (1 -> 41)\n" in text
    assert "CPU EPYC-Rome-v1 without rdseed sha-ni, 2 boots" in " ".join(text.split())
    assert "  source: 6.1.0 -> 6.2.0\n" in text
    assert "  configuration: PREEMPT y -> n\n" in text
    assert "regressed" not in text
    assert text.endswith("Repeat:\n  cyclometer kdiff a/bzImage 'b/bz Image'\n")


def test_words_that_one_side_adds_to_its_command_line_tell_two_alike_kernels_apart() -> None:
    added = {"build.command_line": "console=ttyS0 mitigations=off"}
    text = letter(replace(found(row(40), **added), names=("bzImage", "bzImage")))
    assert "  old: bzImage (6.1.0)\n  new: bzImage (6.1.0), mitigations=off\n" in text
    assert "  command line: console=ttyS0 (both), new adds mitigations=off\n" in text
    other = letter(found(row(40), **{"build.command_line": "quiet"}))
    assert "  new: b/bzImage (6.1.0)\n" in other
    assert "  command line: console=ttyS0 -> quiet\n" in other


def test_rows_that_the_same_functions_carry_stand_together() -> None:
    text = letter(found(row(40), row(40, key="thing.prod")))
    assert text.count("poke (1 -> 41)") == 1
    assert "thing.poke: +40" in text
    assert "thing.prod: +40" in text


def test_what_is_unchanged_missing_or_untraced_is_said() -> None:
    same = row(0, key="thing.same")
    gone = KernelRow("thing.gone", (3.0,), (), "after: the kernel lacks it")
    mute = KernelRow("thing.mute", (3.0,), (5.0, 6.0), untraced="too long")
    text = letter(found(same, gone, mute))
    assert "unchanged: thing.same\n" in text
    assert "thing.gone: after: the kernel lacks it\n" in text
    assert "new: boots differ, 5 to 6\n" in text
    assert "not whole" not in text
    mixed = letter(found(replace(mute, after=(5.0, 6.54))))
    assert "new: boots differ, 5 to 6.54\n      a count that is not whole: in that" in mixed
    assert "no functions: too long" in text
    assert "configuration: no difference known" in text


def test_a_count_that_is_not_whole_stands_behind_those_that_are() -> None:
    assert KernelRow("a", (7222.54, 7218.0), (7375.96, 7380.0)).counts == (7218, 7380)
    assert KernelRow("a", (0.1875,), (2.5, 2.25)).counts == (0.1875, 2.25)


def test_rows_that_have_no_count_for_one_reason_stand_together() -> None:
    broken = [KernelRow(key, (3.0,), (), "new: contract broken") for key in ("a.b", "a.c")]
    text = letter(found(row(40), *broken))
    assert "\na.b, a.c: new: contract broken\n" in text
    finding: Any = SimpleNamespace(reason="before: lacks it; after: invalid", verdict="x")
    assert kernels._reason(finding) == "old: lacks it; new: invalid"


def test_counts_that_are_not_those_of_the_traced_turns_say_so() -> None:
    one = row(40)
    other = replace(one, after=(one.after[0] + 14,))
    traced = f"traced turns: {machine.LENGTH} -> {machine.LENGTH + 40}; "
    assert f"{traced}none as long as counted was traced\n" in letter(found(other))
    mean = replace(one, after=(one.after[0] + 0.5,))
    assert f"{traced}counts are means of unlike turns\n" in letter(found(mean))


def test_a_row_that_cannot_be_traced_says_why_once_a_side() -> None:
    reasons = ({"thing.long": "a turn is too long"}, {"thing.long": "a turn is longer"})
    one = kernels._with_functions(KernelRow("thing.long", (3.0,), (5.0,)), reasons)
    text = letter(found(one))
    assert "    no functions: old: a turn is too long; new: a turn is longer\n" in text


def test_an_option_and_a_compiler_by_another_name_are_no_difference() -> None:
    version = "(Debian 12.2.0) 12.2.0"
    old = {
        "CPU_SRSO": "y",
        "RETPOLINE": "y",
        "CPU_FREQ": "y",
        "SLS": "y",
        "CC_VERSION_TEXT": "",
        "KASAN": "n",
    }
    new = {"MITIGATION_SRSO": "y", "MITIGATION_RETPOLINE": "n", "CPU_FREQ": "m", "NUMA": "y"}
    old["CC_VERSION_TEXT"], new["CC_VERSION_TEXT"] = f"gcc-12 {version}", f"x-gnu-gcc-12 {version}"
    sides = [{f"config.CONFIG_{n}": v for n, v in one.items()} for one in (old, new)]
    two = Kernels(("a", "b"), [row(40)], ({**FACTS, **sides[0]}, {**FACTS, **sides[1]}))
    assert {"SRSO", "CPU_SRSO", "MITIGATION_SRSO"}.isdisjoint(two.options())
    text = letter(two)
    assert f"  compiler: gcc-12 {version} (both)\n" in text
    named = " ".join(text[text.index("  configuration: ") :].split())
    assert "RETPOLINE y -> absent, SLS y -> absent, NUMA absent -> y, 2 more options" in named
    assert "CPU_FREQ" not in named
    assert "KASAN" not in two.options()


def test_options_that_make_another_kernel_come_first_and_modules_are_counted_apart() -> None:
    old = {"config.CONFIG_CGROUP_BPF": "n", "config.CONFIG_AUDIT": "n"}
    new = {"config.CONFIG_CGROUP_BPF": "y", "config.CONFIG_AUDIT": "y"}
    old |= {"config.CONFIG_PREEMPT_RT": "n", "config.CONFIG_WIFI": "m", "config.CONFIG_BT": "n"}
    new |= {"config.CONFIG_PREEMPT_RT": "y", "config.CONFIG_USB": "m", "config.CONFIG_BT": "m"}
    new |= {"config.CONFIG_EXT4": "y"}
    two = Kernels(("a", "b"), [row(40)], ({**FACTS, **old}, {**FACTS, **new}))
    text = letter(two)
    named = " ".join(text[text.index("  configuration: ") :].split())
    assert named.startswith(
        "configuration: PREEMPT_RT n -> y, AUDIT n -> y, CGROUP_BPF n -> y, 1 more option, "
        "3 more modules Repeat:"
    )


def test_what_only_a_newer_kernel_knows_not_to_concern_the_processor_is_no_difference() -> None:
    changed = {"build.mitigation.ghostwrite": "Not affected", "build.mitigation.its": "Vulnerable"}
    text = letter(found(row(40), **changed))
    assert "ghostwrite" not in text
    assert "  mitigation its: not known there -> Vulnerable\n" in text


def test_subsystems_stand_before_functions_where_not_all_of_these_are_named() -> None:
    one = row(40)
    assert one.difference is not None
    changed = one.difference.functions[0]
    parts = [replace(changed, name=name) for name in ("sched", "mm")]
    many = tuple(replace(changed, name=f"f{i}") for i in range(mail.FUNCTIONS + 1))
    whole = replace(one, difference=replace(one.difference, subsystems=parts), functions=many)
    assert "    by subsystem: sched +40, mm +40\n       +40  f0" in letter(found(whole))
    assert mail.as_json(found(whole), {}, 2).rows[0].subsystems[1].name == "mm"
    few = replace(whole, functions=many[:1])
    assert "by subsystem" not in letter(found(few))


@pytest.mark.parametrize(
    ("extra", "verdict", "warned"),
    [(40, "regressed", False), (40, "improved", True), (0, "regressed", True)],
)
def test_time_stands_beside_counts_with_a_warning_where_they_disagree(
    extra: int, verdict: str, warned: bool
) -> None:
    timed: Any = {"thing.poke": SimpleNamespace(change=0.117, verdict=verdict)}
    text = letter(found(row(extra)), timed)
    assert f"time: +11.7 % ({verdict})" in text
    assert ("WARNING: instructions and time disagree" in text) == warned


def test_the_traced_turn_is_one_as_long_as_the_boots_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = machine.evidence([0, 0, 9, 9], Fraction(machine.LENGTH + 9))
    boot = TraceResult([], {"thing.poke": one.steps}, one.places)
    monkeypatch.setattr(QemuLinuxTarget, "trace", lambda *_: boot)
    monkeypatch.setattr(kernels.evidence, "gather", lambda *_: {"thing.poke": one})
    counts = {"thing.poke": float(machine.LENGTH), "thing.long": 1e6}
    result = kernels.traced(Request(kernel="x"), counts)
    assert result["thing.long"] == "this configuration has no such circle"
    assert isinstance(e := result["thing.poke"], Explanation)
    assert (e.length, e.turn.exact) == (machine.LENGTH, True)


def test_a_margin_is_of_what_it_says() -> None:
    both = found(row(40), row(2, key="thing.prod"))
    share = 40 / machine.LENGTH
    assert [one.key for one in both.worse_than(share + 0.001)] == []
    assert [one.key for one in both.worse_than(share - 0.001)] == ["thing.poke"]
    better = replace(row(40), before=row(40).after, after=row(40).before)
    assert found(better).worse_than(0.0) == []


def test_a_killed_process_costs_the_functions_and_not_the_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "traced", killed)
    row = KernelRow("a.b", (100.0,), (102.0,))
    sides = kernels._explained([row], [Request(), Request()])
    shown = kernels._with_functions(row, sides)
    assert (shown.before, shown.after, shown.functions) == ((100.0,), (102.0,), ())
    assert shown.untraced.startswith("old: a process that traces was killed")
