# SPDX-License-Identifier: BSD-2-Clause
"""The reference kernel costs what it cost, to the instruction, in every configuration."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import kernel_counts
from cyclometer.targets.qemu import target as qemu

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not shutil.which(qemu.EMULATOR) or not shutil.which(qemu.CROSS),
        reason=qemu.virt().missing(),
    ),
]


def test_the_table_holds_every_configuration() -> None:
    assert tuple(kernel_counts.read()) == kernel_counts.CONFIGURATIONS


@pytest.mark.parametrize("configuration", kernel_counts.CONFIGURATIONS)
def test_counts_are_those_of_the_table(configuration: str) -> None:
    wanted, found = kernel_counts.read()[configuration], kernel_counts.measure(configuration)
    assert len(wanted) > 30
    assert {key: str(count) for key, count in found.items()} == {
        key: str(count) for key, count in wanted.items()
    }


@pytest.mark.parametrize("options", ["", " mcs=on"])
def test_two_boards_without_a_time_register_count_the_same(options: str) -> None:
    wanted = kernel_counts.read()[f"board=sifive_u{options}"]
    assert kernel_counts.measure(f"board=spike{options}") == wanted


@pytest.mark.parametrize(("words", "code"), [("list=1", 0), ("groups=none", 1)])
def test_spike_ends_by_itself_and_says_how(words: str, code: int) -> None:
    (image,) = qemu.spike().build()
    command = qemu._command(qemu.EMULATOR, "spike", image, ("-bios", "none"))
    done = subprocess.run(
        [*command, "-append", words], capture_output=True, timeout=300, check=False
    )
    refused = b"is not understood" in done.stdout
    assert (done.returncode, refused) == (code, bool(code))
