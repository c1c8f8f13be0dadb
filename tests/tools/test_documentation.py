# SPDX-License-Identifier: BSD-2-Clause
"""The documentation site: every page is in its navigation, every link leads somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import documentation
from cyclometer.cli import COMMANDS
from findings import ROOT


def test_the_site_builds_with_strict_links(tmp_path: Path) -> None:
    if importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed; `make setup-dev` does it")
    config = (ROOT / "mkdocs.yml").read_text()
    staged = config.replace("build/documentation", str(tmp_path / "pages"))
    (tmp_path / "mkdocs.yml").write_text(staged.replace("build/site", str(tmp_path / "site")))
    documentation.stage(ROOT, tmp_path / "pages")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(tmp_path / "mkdocs.yml")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "docs" / "tutorial" / "index.html").is_file()


def test_the_command_reference_holds_every_command_and_option() -> None:
    page = documentation.commands()
    for name in COMMANDS:
        assert f"\n## cyclometer {name}\n" in page
    assert "--circles FILE.c" in page


def test_the_manual_names_commands_that_exist() -> None:
    manual = (ROOT / "share" / "man" / "man1" / "cyclometer.1").read_text()
    section = re.search(r"\.SH COMMANDS\n(.*?)\.SH ", manual, re.S)
    assert section
    named = re.findall(r"^\.TP\n\.B (\w+)$", section[1], re.M)
    assert len(named) > 10
    assert set(named) <= set(COMMANDS)


def test_tests_that_a_page_names_exist() -> None:
    named = re.findall(
        r"`(tests/[\w/]+\.py)::(\w+)`", "".join(p.read_text() for p in ROOT.glob("docs/**/*.md"))
    )
    missing = [f"{file}::{name}" for file, name in named if f"def {name}(" not in _text(file)]
    assert named
    assert missing == []


def _text(file: str) -> str:
    path = ROOT / file
    return path.read_text() if path.exists() else ""
