# SPDX-License-Identifier: BSD-2-Clause
"""A guest's command line: its machine's needs, and last, so that it wins, what the person asked
for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.qemu_linux.image import MACHINES, Kernel, Machine


@pytest.mark.parametrize("machine", list(MACHINES.values()), ids=list(MACHINES))
def test_what_a_person_appends_comes_after_what_the_machine_needs(machine: Machine) -> None:
    kernel = Kernel(Path("Image"), machine, "", "ours")
    result = Guest(
        kernel, Path("init"), machine.cpu, "randomize_kstack_offset=on"
    ).command_line.split(" ")
    assert result[0] == f"console={machine.console}"
    assert result[-1] == "randomize_kstack_offset=on"
    assert all(result)


def test_the_stack_stays_where_it_is_where_moving_it_takes_random_numbers() -> None:
    def result(name: str) -> list[str]:
        return Guest(
            Kernel(Path("Image"), MACHINES[name], "", "ours"), Path("init"), "", ""
        ).command_line.split(" ")

    assert {name for name in MACHINES if "randomize_kstack_offset=off" in result(name)} == {
        "aarch64",
        "riscv64",
    }
