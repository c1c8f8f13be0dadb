# SPDX-License-Identifier: BSD-2-Clause
"""A revision is built in a worktree of its own, which is gone afterwards."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cyclometer.errors import MeasurementFailed, UsageError
from cyclometer.targets.qemu_linux import revision

BUILD = "mkdir -p arch/x86/boot && cp source arch/x86/boot/bzImage"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "linux"
    folder.mkdir()
    monkeypatch.chdir(folder)
    who = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    subprocess.run(["git", "init", "-q"], check=True)
    for word in ("one", "two"):
        (folder / "source").write_text(word)
        subprocess.run(["git", "add", "source"], check=True)
        subprocess.run(["git", *who, "commit", "-q", "-m", word], check=True)
    return folder


def test_each_revision_gives_its_own_image(tree: Path, tmp_path: Path) -> None:
    for name, content in (("HEAD~1", "one"), ("HEAD", "two")):
        folder = tmp_path / name.replace("~", "_")
        folder.mkdir()
        with revision.built(name, BUILD, folder) as image:
            assert image.read_text() == content
        assert not image.exists()
    listed = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=True)
    assert listed.stdout.count("\n") == 1
    assert (tree / "source").read_text() == "two"


def test_what_is_no_revision_and_what_does_not_build_is_one_sentence(
    tree: Path, tmp_path: Path
) -> None:
    del tree
    assert revision.is_revision("HEAD")
    assert not revision.is_revision("--all")
    with pytest.raises(UsageError, match="neither a file nor a commit"):  # noqa: SIM117
        with revision.built("v9", BUILD, tmp_path):
            pass
    for command, why in (("echo no; exit 3", "ended with 3: 'no'"), ("true", "made none of")):
        with pytest.raises(MeasurementFailed, match=why):  # noqa: SIM117
            with revision.built("HEAD", command, tmp_path):
                pass
