# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer kdiff` of two of Debian's kernels, from packages to the mail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cyclometer.cli import cli
from cyclometer.errors import PASS, REGRESSED, CyclometerError
from cyclometer.report.kernel_mail import WIDTH
from cyclometer.targets.qemu_linux import debian
from cyclometer.targets.qemu_linux.target import QemuLinuxTarget

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(QemuLinuxTarget().missing()), reason=QemuLinuxTarget().missing()),
]
KEY = "syscall.null"
IMAGES = ("debian:linux-image-6.1.0-*-cloud-amd64", "debian:linux-image-6.12.*-cloud-amd64")


@pytest.fixture(scope="module")
def fetched() -> tuple[str, ...]:
    """The packages; the tests are skipped where there is no network to fetch them by."""
    for name in IMAGES:
        try:
            debian.fetch(name)
        except CyclometerError as error:
            pytest.skip(f"{name} cannot be fetched here: {error}")
    return IMAGES


def test_two_packages_become_a_mail_whose_functions_sum_to_the_change(
    fetched: tuple[str, ...], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    words = ("kdiff", *fetched, KEY, "--margin", "1%", "-o", str(page))
    outcome = CliRunner().invoke(cli, words, catch_exceptions=False)
    lines = outcome.stdout.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert outcome.stdout.isascii()
    (row,) = [line.split() for line in lines if line.startswith(f"{KEY} ")]
    old, new, change = (float(word) for word in row[1:4])
    assert change == new - old != 0
    assert outcome.exit_code == (REGRESSED if change > 0.01 * old else PASS)
    carried = lines[lines.index(f"{KEY}: {' '.join(row[3:])}") + 1 : lines.index("What differs:")]
    counts = re.findall(r"^ +([+-][\d.]+)  ", "\n".join(carried), re.MULTILINE)
    assert sum(map(float, counts)) == change
    assert page.read_text().count("Flame graph") >= 2
