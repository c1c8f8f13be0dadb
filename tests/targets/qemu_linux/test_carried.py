# SPDX-License-Identifier: BSD-2-Clause
"""What a guest carries of this machine: a program's file, its libraries, and no script."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from cyclometer.errors import UsageError
from cyclometer.targets.linux.programs import Program
from cyclometer.targets.qemu_linux import carried


def test_a_dynamic_program_takes_its_loader_along() -> None:
    path = shutil.which("true")
    assert path
    found = carried.files([Program("nop", (path,))])
    assert found["carried/nop"] == Path(path).read_bytes()
    assert any("ld-linux" in name or "ld-musl" in name for name in found)
    assert not any(name.startswith("/") for name in found)


def test_a_program_is_named_where_the_guest_has_it() -> None:
    described = carried.description([Program("nop", (sys.executable, "-c", "pass"))])
    assert "argument /carried/nop\nargument -c\n" in described


def test_a_script_is_refused(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    with pytest.raises(UsageError, match="script is a script, and the guest has no interpreter"):
        carried.files([Program("script", (str(tmp_path / "script"),))])
