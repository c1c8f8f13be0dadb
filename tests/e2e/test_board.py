# SPDX-License-Identifier: BSD-2-Clause
"""A board that labgrid's own QEMU driver is: it boots the reference kernel and counts what the
target `qemu-virt` counts.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cyclometer.bundle.model import Bundle
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.board.target import BoardTarget
from cyclometer.targets.qemu import target as qemu

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        not shutil.which(qemu.EMULATOR) or not shutil.which(qemu.CROSS),
        reason=qemu.virt().missing(),
    ),
]

BOARD = """
targets:
  main:
    drivers:
      QEMUDriver:
        qemu_bin: qemu
        machine: virt
        cpu: rv64
        memory: 128M
        kernel: kernel
        boot_args: only=semaphore.give.* initial=10 delta=10 groups=3 tests=5 passes=10
        extra_args: -bios none -net none -icount shift=0,sleep=off
tools: {qemu: qemu-system-riscv64}
images: {kernel: absent.elf}
"""


def rows(bundle: Bundle) -> list[tuple[str, list[float]]]:
    """Key and values of each row, overheads included."""
    samples = bundle.samples
    return [
        (row.contract.key, samples.value[samples.of_row(n)].tolist())
        for n, row in enumerate(bundle.identity.rows)
    ]


def test_it_counts_what_the_emulator_counts(tmp_path: Path) -> None:
    target = qemu.virt()
    (image,) = target.build()
    file = tmp_path / "board.yaml"
    file.write_text(BOARD)
    request = Request(runs=2, image=image, watchdog_s=60, config={"labgrid": str(file)})
    measured = BoardTarget().measure(request, {}, Progress())
    expected = target.measure(Request(only=("semaphore.give.*",), runs=2), {}, Progress())
    assert not (*measured.bundle.identity.problems, *expected.bundle.identity.problems)
    assert rows(measured.bundle) == rows(expected.bundle)
    assert len(rows(measured.bundle)) > 5
