# SPDX-License-Identifier: BSD-2-Clause
"""Parts of other packages: a broken one is one sentence and spoils nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cyclometer.errors import BrokenPlugin, UsageError
from cyclometer.ingest import FORMATS
from cyclometer.report.export import EXPORTERS
from cyclometer.targets.registry import TARGETS
from tests import streams

ROOT = Path(__file__).parent.parent


def install(site: Path, package: str, group: str, name: str, code: str) -> None:
    """A distribution `package` in the folder `site`, whose entry point `name` is `code`'s `it`."""
    site.mkdir(exist_ok=True)
    module = package.replace("-", "_")
    (site / f"{module}.py").write_text(code)
    info = site / f"{module}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}:it\n")


def cyclometer(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cyclometer", *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(site)},
        cwd=site,
    )


GROUPS = ("cyclometer.targets", "cyclometer.ingest", "cyclometer.exporters")


@pytest.fixture(params=["import nothing_like_this", "it = 3", "raise SystemExit('gone')"])
def broken_site(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Three packages, each with a part that cannot be loaded or is not such a part."""
    site = tmp_path / "site"
    for group in GROUPS:
        install(site, f"bad-{group.rpartition('.')[2]}", group, "bad", request.param)
    return site


@pytest.mark.parametrize(
    ("words", "package"),
    [
        (("list", "syscall.null", "--target", "linux"), ""),
        (("list", "syscall.null"), "bad-targets"),
        (("ingest", str(ROOT / "tests/data/hackbench.txt"), "-o", "bundle"), "bad-ingest"),
        (("ingest", "--formats"), "bad-ingest"),
        (("export", "--list"), "bad-exporters"),
    ],
)
def test_a_broken_package_is_one_sentence_and_the_command_does_its_work(
    broken_site: Path, words: tuple[str, ...], package: str
) -> None:
    done = cyclometer(broken_site, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    about = [line for line in done.stderr.splitlines() if "cannot provide" in line]
    assert len(about) == bool(package)
    assert all(f"pip uninstall {package}" in line for line in about)
    assert "Traceback" not in done.stderr


def test_a_broken_part_that_is_asked_for_ends_with_4(broken_site: Path) -> None:
    for words in (
        ("run", "--target", "bad"),
        ("ingest", str(ROOT / "tests/data/hackbench.txt"), "--format", "bad"),
        ("export", str(ROOT / "tests/data/hackbench.txt"), "--format", "bad"),
    ):
        done = cyclometer(broken_site, *words)
        assert (done.returncode, len(done.stderr.splitlines())) == (4, 1), done.stderr


def test_no_package_takes_over_a_name_of_ours(tmp_path: Path) -> None:
    install(tmp_path / "site", "thief", "cyclometer.targets", "linux", "it = exit")
    done = cyclometer(tmp_path / "site", "list", "syscall.null", "--target", "linux")
    assert (done.returncode, done.stderr) == (0, "")


# All that a package has to bring.
MADE_UP = f"""
from cyclometer.bundle.assemble import Assembler
from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Circle
from cyclometer.targets.api import MeasurementResult

CONSOLE = {b"".join(streams.stream())!r}

class it:
    name = "made-up"
    description = "prints what it was given"
    options = frozenset({{"only", "runs", "config"}})
    concurrent = False
    exact = True
    programs = frozenset()

    def missing(self):
        return ""

    def build(self, *, progress=None):
        return []

    def circles(self, config=None):
        records = Decoder().feed(CONSOLE)
        return records[0].clock, [r.contract for r in records if isinstance(r, Circle)]

    def measure(self, request, environment, progress):
        request.refuse_others(self.name, self.options)
        assembler = Assembler(self.name, environment, dict(request.config))
        for run in range(1, (request.runs or 1) + 1):
            assembler.add(run, Decoder().feed(CONSOLE))
        return MeasurementResult(assembler.bundle(), {{"run-1": CONSOLE}})
"""


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """A package whose target needs nothing but the modules that docs/howto/extend.md names."""
    install(tmp_path / "site", "cyclometer-made-up", "cyclometer.targets", "made-up", MADE_UP)
    return tmp_path / "site"


def test_a_target_of_another_package_lists_measures_and_takes_options_of_its_own(
    made_up: Path,
) -> None:
    key = streams.CONTRACT["key"]
    assert key in cyclometer(made_up, "list", "--target", "made-up").stdout
    words = ("run", "--target", "made-up", "--runs", "2", "--config", "voltage=low", "-o", "new")
    done = cyclometer(made_up, *words, "--allow-invalid")
    assert done.returncode == 0, done.stderr
    assert key in done.stdout
    shown = cyclometer(made_up, "show", "new", "--json").stdout
    assert json.loads(shown)["rows"][0]["configuration"]["voltage"] == "low"


def test_an_option_that_a_target_does_not_declare_is_refused_in_one_sentence(
    made_up: Path,
) -> None:
    done = cyclometer(made_up, "run", "--target", "made-up", "--nice", "0", "-o", "new")
    sentence = "cyclometer: --nice does not apply to target made-up; leave it out\n"
    assert (done.returncode, done.stderr) == (2, sentence)
    assert not (made_up / "new").exists()


def test_a_target_without_a_member_is_one_sentence_that_names_it(made_up: Path) -> None:
    code = MADE_UP.replace("    concurrent = False\n", "")
    install(made_up, "half", "cyclometer.targets", "half", code)
    done = cyclometer(made_up, "run", "--target", "half")
    assert done.returncode == 4
    assert "the package half cannot provide the target 'half'" in done.stderr
    assert "half has no concurrent; see targets/api.py" in done.stderr


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean qemu-virt"):
        TARGETS.load("qemu-vrit")
    with pytest.raises(UsageError, match="there are bencher, benchstat"):
        EXPORTERS.load("zzz")


def test_every_part_of_ours_loads() -> None:
    for plugins in (TARGETS, FORMATS, EXPORTERS):
        found, broken = plugins.load_all()
        assert list(found) == plugins.names()
        assert broken == []


def test_a_broken_plugin_has_the_exit_code_of_a_refused_environment() -> None:
    assert BrokenPlugin.exit_code == 4
