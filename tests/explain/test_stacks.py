# SPDX-License-Identifier: BSD-2-Clause
"""Call stacks by the stack pointer: whatever moves it, a frame lives until the pointer has passed
it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.explain import frames
from cyclometer.explain.by_pointer import UNPREDICTED
from cyclometer.explain.frames import Path, StackFrame
from cyclometer.explain.stacks import paths
from cyclometer.record.address_map import AddressMap, Place
from cyclometer.record.instructions import X86_64
from cyclometer.record.trace import INTERRUPTED, STEP, SUPERVISOR, TRAPPED, USER

CALL, RETURN, PLAIN = 0xE8, 0xC3, 0x90
BASE = {
    "a": 0xFFFFC90000010000,
    "b": 0xFFFFC90000018000,
    "irq": 0xFFFFC90000400000,
    "user": 1 << 46,
}
Row = tuple[str, int, int, int, int]  # function, offset in it, encoding, stack, flags


def of(rows: Sequence[Row]) -> list[Path]:
    """The paths of what runs behind the hint; a function whose name begins with `u_` is a
    program's.
    """
    names = sorted({row[0] for row in rows})
    starts = {name: 0x1000 * (1 + at) for at, name in enumerate(names)}
    steps = np.zeros(1 + len(rows), STEP)
    places: tuple[dict[int, Place], dict[int, Place]] = ({}, {})
    steps["insn"][0], steps["stack"][0], steps["pc"][0] = X86_64.opens, rows[0][3], 1
    steps["privilege"][0] = USER if rows[0][0].startswith("u_") else SUPERVISOR
    for at, (name, offset, insn, stack, flags) in enumerate(rows, 1):
        user, pc = name.startswith("u_"), starts[name] + offset
        places[user][pc] = Place(name, starts=offset == 0, insn=insn)
        for field, value in zip(
            ("pc", "insn", "stack", "flags", "privilege"),
            (pc, insn, stack, flags, USER if user else SUPERVISOR),
            strict=True,
        ):
            steps[field][at] = value
    places[True][1] = places[False][1] = Place(rows[0][0])
    return paths(steps[:1], steps[1:], AddressMap(*places))


def row(name: str, offset: int, insn: int, depth: int, on: str = "a", flags: int = 0) -> Row:
    """With the pointer `depth` words below the top of a stack."""
    return name, offset, insn, BASE[on] - 8 * depth, flags


def test_a_retpoline_is_a_jump_to_what_it_calls() -> None:
    found = of(
        [
            row("caller", 0, CALL, 10),
            row("thunk", 0, CALL, 11),
            row("thunk", 12, PLAIN, 12),
            row("thunk", 16, RETURN, 12),
            row("callee", 0, RETURN, 11),
            row("caller", 5, PLAIN, 10),
        ]
    )
    assert found == [
        ("caller",),
        *[("caller", "thunk")] * 3,
        ("caller", "callee"),
        ("caller",),
    ]


def test_a_return_thunk_that_drops_an_address_returns_to_the_caller() -> None:
    found = of(
        [
            row("caller", 0, CALL, 10),
            row("callee", 0, PLAIN, 11),
            row("srso_return_thunk", 0, CALL, 11),
            row("srso_safe_ret", 0, PLAIN, 12),
            row("srso_safe_ret", 8, RETURN, 11),
            row("caller", 5, PLAIN, 10),
        ]
    )
    assert found[1] == ("caller", "callee")
    assert found[-1] == ("caller",)
    assert not any(UNPREDICTED in name for path in found for name in path)


def test_filling_the_return_buffer_builds_no_tower() -> None:
    fill = [row("__switch_to_asm", 16 + 8 * n, CALL, 11 + n) for n in range(32)]
    found = of(
        [
            row("schedule", 0, CALL, 10),
            row("__switch_to_asm", 0, PLAIN, 11),
            *fill,
            row("__switch_to_asm", 300, PLAIN, 43),
            row("__switch_to_asm", 304, RETURN, 11),
            row("schedule", 5, PLAIN, 10),
        ]
    )
    assert set(found[1:-1]) == {("schedule", "__switch_to_asm")}
    assert found[-1] == ("schedule",)


def test_threads_keep_their_stacks_and_get_their_callers_once_they_return() -> None:
    def turn(name: str, on: str, other: str) -> list[Row]:
        return [
            row(f"wait_{name}", 0, CALL, 10, on),
            row("__switch_to_asm", 0, PLAIN, 11, on),
            row("__switch_to_asm", 4, RETURN, 11, other),
        ]

    once = turn("one", "a", "b") + turn("two", "b", "a")
    found = of([*once, *once[:3], row("wait_two", 5, PLAIN, 10, "b")])
    assert found[-1] == ("wait_two",)
    # what ran before its caller was known hangs below it all the same
    assert found[2] == ("wait_two", "__switch_to_asm")
    assert {path[0] for path in found[1:]} == {"wait_one", "wait_two"}


def test_a_system_call_goes_to_its_own_stack_and_back() -> None:
    found = of(
        [
            row("u_main", 0, CALL, 10, "user"),
            row("u_call", 0, PLAIN, 11, "user", TRAPPED),
            row("entry", 0, PLAIN, 11, "user"),
            row("entry", 4, CALL, 0),
            row("do_call", 0, RETURN, 1),
            row("entry", 9, PLAIN, 0),
            row("entry", 16, PLAIN, 11, "user"),
            row("u_call", 2, RETURN, 11, "user"),
            row("u_main", 5, PLAIN, 10, "user"),
        ]
    )
    call = ("u_main", "u_call")
    assert found[2:] == [
        *[(*call, "entry")] * 2,
        (*call, "entry", "do_call"),
        *[(*call, "entry")] * 2,
        call,
        ("u_main",),
    ]


def test_an_interrupt_on_a_stack_of_its_own_is_a_call_of_what_it_interrupts() -> None:
    found = of(
        [
            row("work", 0, CALL, 10),
            row("deep", 0, PLAIN, 11),
            row("irq_entry", 0, PLAIN, 20, flags=INTERRUPTED),
            row("irq_entry", 4, CALL, 0, "irq"),
            row("handler", 0, RETURN, 1, "irq"),
            row("irq_entry", 9, PLAIN, 0, "irq"),
            row("irq_entry", 12, 0xCF48, 20),
            row("deep", 1, RETURN, 11),
            row("work", 5, PLAIN, 10),
        ]
    )
    assert found[4] == ("work", "deep", "irq_entry", "handler")
    assert found[6:] == [("work", "deep", "irq_entry"), ("work", "deep"), ("work",)]


def test_a_return_that_no_call_predicts_says_so() -> None:
    found = of(
        [
            row("caller", 0, CALL, 10),
            row("callee", 0, RETURN, 11),
            row("caller", 0x400, PLAIN, 10),
        ]
    )
    assert found[-1] == ("caller" + UNPREDICTED,)


def test_a_path_is_bounded_however_deep_the_calls() -> None:
    frame = StackFrame("f")
    for _ in range(5000):
        frame = frame.call("f", 0)
    assert len(frames.path(frame, "f")) == 64


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["f", "g", "u_f", "__switch_to_asm"]),
            st.integers(0, 40),
            st.sampled_from([CALL, RETURN, PLAIN, 0xCF48]),
            st.integers(1, 1 << 63),
            st.sampled_from([0, TRAPPED, INTERRUPTED]),
        ),
        min_size=1,
        max_size=60,
    )
)
def test_any_trace_gives_every_step_a_path_that_ends_in_its_function(rows: list[Row]) -> None:
    found = of(rows)
    assert len(found) == len(rows)
    for path, (name, *_) in zip(found, rows, strict=True):
        assert path[-1].removesuffix(UNPREDICTED) == name
