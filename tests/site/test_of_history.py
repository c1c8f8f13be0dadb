# SPDX-License-Identifier: BSD-2-Clause
"""`history`: windows of time, and a page for each circle."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.errors import NothingMeasured, UsageError
from tests.compare.bundles import ICOUNT, Spec, bundle

EVIL = "a.<script>"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nights in which one circle takes an instruction more from the 21st on."""
    folder = tmp_path_factory.mktemp("nights")
    for night in range(30):
        specs = (Spec(EVIL, [1000.0 + (night >= 20)], clock=ICOUNT), Spec("b", [5.0], clock=ICOUNT))
        made = bundle(*specs, created=f"2026-01-{1 + night:02}T02:00:00+00:00")
        store.write(made, folder / f"night-{night:02}", {})
    return folder


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [*map(str, words)])


def test_each_circle_has_a_page_with_its_dates_and_changes(kept: Path, tmp_path: Path) -> None:
    done = run("history", kept, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "1 change points in 1 of 2 circles, over up to 30 points." in done.output
    first = (tmp_path / "out/index.html").read_text()
    linked = re.findall(r'href="(circle/[0-9a-f]{16}\.html)"', first)
    assert len(set(linked)) == 2
    pages = [(tmp_path / "out" / one).read_text() for one in sorted(set(linked))]
    (changed,) = (page for page in pages if "2026-01-21 02:00" in page and "&lt;script&gt;" in page)
    assert "+0.100 %" in changed
    for page in (first, *pages):
        assert "<script>" not in page.replace("<script></script>", "")
        assert not re.search("store pull|compare.html|acknowledge|waits", page)


def test_a_window_has_its_own_changes(kept: Path) -> None:
    def result(*words: str) -> list[tuple[int, int]]:
        document = json.loads(run("history", kept, "--json", *words).stdout)
        return [(len(one["points"]), len(one["changes"])) for one in document["series"]]

    assert result("--since", "2026-01-21") == [(10, 0), (10, 0)]
    assert result("--until", "2026-01-21") == [(21, 1), (21, 0)]
    assert result("--since", "2026-01-19", "--until", "2026-01-22") == [(4, 1), (4, 0)]
    assert result("--since", "2027-01-01") == []


def test_what_cannot_be_written_is_one_sentence(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    for words, kind, why in (
        (("history", kept, "-o", tmp_path), UsageError, "not an empty folder"),
        (
            ("history", kept, "-o", tmp_path / "x", "--until", "2020-01-01"),
            NothingMeasured,
            "widen",
        ),
    ):
        error = run(*words).exception
        assert isinstance(error, kind)
        assert why in str(error)
