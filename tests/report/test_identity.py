# SPDX-License-Identifier: BSD-2-Clause
"""A few sentences say what two kernels differ in; all of it is in the JSON."""

from __future__ import annotations

from cyclometer.report import identity

BANNER = "Linux version {} (debian-kernel@lists) ({}, GNU ld (GNU Binutils) 2.40) #1 SMP"
GCC12, GCC14 = "gcc-12 (Debian 12.2.0-14) 12.2.0", "gcc-14 (Debian 14.2.0-1) 14.2.0"


def test_differences_are_all_that_is_stated_otherwise() -> None:
    found = identity.differences({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "5", "d": "4"})
    assert found == [("b", "2", "5"), ("c", "3", ""), ("d", "", "4")]
    assert identity.differences(None, None) == []


def test_a_kernels_options_are_summed_up_the_telling_ones_first() -> None:
    before = {f"config.CONFIG_DRIVER_{i}": "m" for i in range(20)} | {
        "config.CONFIG_PREEMPT_RT": "n"
    }
    after = {"config.CONFIG_PREEMPT_RT": "y"}
    (line,) = identity.sentences(identity.differences(before, after), ["ticks"])
    assert line.startswith(
        "21 of the kernel configuration's options differ: CONFIG_PREEMPT_RT n to y, "
        "CONFIG_DRIVER_0 m to -"
    )
    assert line.endswith("and 13 more (--json lists them)")


def test_what_can_have_changed_a_count_is_told_and_that_layout_cannot() -> None:
    before = {
        "build.banner": BANNER.format("6.1", GCC12),
        "build.command_line": "quiet",
        "config.CONFIG_HZ": "250",
    }
    after = {
        "build.banner": BANNER.format("6.12", GCC14),
        "build.command_line": "",
        "config.CONFIG_HZ": "1000",
    }
    last = identity.sentences(identity.differences(before, after), ["instructions"])[-1]
    assert last == (
        "code placement cannot change instruction counts; possible causes: the source "
        "(6.1 to 6.12), the configuration "
        f"(1 option), the compiler ({GCC12} to {GCC14}), the command line"
    )


def test_a_compiler_that_is_the_same_is_said_too() -> None:
    sides = [{"build.banner": BANNER.format(version, GCC12)} for version in ("6.1", "6.12")]
    last = identity.sentences(identity.differences(*sides), ["instructions"])[-1]
    assert last.endswith("the source (6.1 to 6.12) (the compiler is the same)")


def test_other_clocks_and_other_systems_get_no_such_sentence() -> None:
    sides = [{"build.banner": BANNER.format(version, GCC12)} for version in ("6.1", "6.12")]
    assert not any(
        "layout" in s or "where code" in s
        for s in identity.sentences(identity.differences(*sides), ["ticks"])
    )
    assert identity.sentences([("governor", "a", "b")], ["instructions"]) == [
        "governor was a, is b"
    ]


def test_many_differences_are_cut_and_counted() -> None:
    lines = identity.sentences([(f"n{i}", "1", "2") for i in range(20)], ["ticks"])
    assert len(lines) == 13
    assert lines[-1] == "and 8 more differences of the environment (--json lists them)"
