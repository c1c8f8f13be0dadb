# SPDX-License-Identifier: BSD-2-Clause
"""Plans of a target that pretends, which every test of sweeps has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("fsspec", reason="fsspec is not installed; run `make setup-all`")


@pytest.fixture(autouse=True)
def _pretend(pretend: None) -> None:
    """The target is installed."""


@pytest.fixture
def planned(tmp_path: Path) -> Callable[..., Path]:
    """Writes a plan of the target with `tasks` tasks and more lines of [axes]."""

    def write(tasks: int, *lines: str) -> Path:
        path = tmp_path / "plan.toml"
        more = f'"config.more" = {{from = 1, to = {tasks}, step = 1}}'
        path.write_text("\n".join(['[sweep]\ntarget = "qemu-pretend"\n[axes]', more, *lines]))
        return path

    return write
