# SPDX-License-Identifier: BSD-2-Clause
"""The reference kernel costs what it cost, to the instruction, in every configuration."""

from __future__ import annotations

import shutil

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
