# SPDX-License-Identifier: BSD-2-Clause
"""`doctor --against`: two hosts agree to the byte, or what differs is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cyclometer.errors import NotComparable
from cyclometer.report.documents.machine import HostCounts, TargetCounts
from cyclometer.sweep import agreement
from cyclometer.targets.qemu import target as qemu
from cyclometer.targets.ssh.line import Line

BIN = Path(sys.executable).parent
VERSIONS = {"qemu-system-riscv64": "QEMU 7.2", "sources": "ab"}


def host(rows: dict[str, list[int]], versions: dict[str, str] = VERSIONS) -> HostCounts:
    return HostCounts({"qemu-virt": TargetCounts(versions, rows, "")})


def test_equal_counts_agree_whatever_the_versions() -> None:
    (one,) = agreement.compared(
        host({"a accumulated": [5, 5]}),
        host({"a accumulated": [5, 5]}, VERSIONS | {"qemu-system-riscv64": "QEMU 9.0"}),
    )
    assert agreement.agree([one])
    assert agreement.sentence(one) == (
        "qemu-virt: 1 rows agree to the byte (qemu-system-riscv64: QEMU 7.2 here, QEMU 9.0 there)"
    )


@pytest.mark.parametrize(
    "there", [{"a": [5, 6], "b": [1]}, {"b": [1]}, {"a": [5, 5], "b": [1], "c": [1]}]
)
def test_a_value_or_a_row_that_differs_is_named(there: dict[str, list[int]]) -> None:
    (one,) = agreement.compared(host({"a": [5, 5], "b": [1]}), host(there))
    assert not agreement.agree([one])
    assert one.differing == ["c" if "c" in there else "a"]
    assert "1 of" in agreement.sentence(one)


def test_hosts_that_have_no_target_in_common_do_not_agree() -> None:
    lacking = HostCounts({"qemu-virt": TargetCounts({}, {}, "needs QEMU")})
    for here, there in ((lacking, host({"a": [1]})), (host({"a": [1]}), lacking)):
        found = agreement.compared(here, there)
        assert not agreement.agree(found)
        assert "needs QEMU" in agreement.sentence(found[0])
    assert not agreement.agree(agreement.compared(host({"a": [1]}), HostCounts({})))


@pytest.mark.parametrize("answer", ["", "{}", '{"targets": {"x": 1}}', "[" * 5000])
def test_another_version_there_is_a_sentence(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Line, "ask", lambda *_, **__: answer.encode())
    with pytest.raises(NotComparable, match="another version of Cyclometer"):
        agreement.asked(Line("there"))


def against(tmp_path: Path, cross: str) -> subprocess.CompletedProcess[str]:
    """The command, asking this very machine as another host, whose compiler is `cross`."""
    there = tmp_path / "there"
    there.mkdir()
    cache = f"XDG_CACHE_HOME={there}" if cross else ""  # the same compiler builds the same kernels
    compiler = there / qemu.CROSS
    compiler.write_text(f'#!/bin/sh\nexec {shutil.which(qemu.CROSS)} "$@" {cross}\n')
    ssh = tmp_path / "ssh"
    ssh.write_text(
        f"#!/bin/sh\nexport PATH={there}:{BIN}:$PATH {cache}\n"
        'for words; do :; done; exec sh -c "$words"\n'
    )
    for file in (compiler, ssh):
        file.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [str(BIN / "cyclometer"), "doctor", "--against", "ssh://there", "--json"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.e2e
@pytest.mark.skipif(bool(qemu.virt().missing()), reason=qemu.virt().missing())
@pytest.mark.parametrize(("cross", "code"), [("", 0), ("-O1", 4)])
def test_a_host_with_another_compiler_counts_otherwise(
    tmp_path: Path, cross: str, code: int
) -> None:
    done = against(tmp_path, cross)
    assert done.returncode == code, done.stderr
    answer = json.loads(done.stdout)
    assert [one["target"] for one in answer["targets"]] == list(agreement.ASKED)
    for one in answer["targets"]:
        assert one["rows"] > 100
        assert bool(one["differing"]) == bool(cross)
