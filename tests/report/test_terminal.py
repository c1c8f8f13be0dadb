# SPDX-License-Identifier: BSD-2-Clause
"""Text of unknown origin on a terminal: what is printed is what stood there."""

import pytest
from rich.table import Table

from cyclometer.report import table
from cyclometer.report.terminal import Terminal
from tests.report import sample_bundles

STEERING = "[/b] [red]x[/red] [link=http://a.b]y[/link] :warning: "
HOSTILE = f"{STEERING}\x1b[2J\x9b2J\r\u202e\x07"
SHOWN = f"{STEERING}\ufffd[2J\ufffd2J\ufffd\ufffd\ufffd"


def test_lines_and_cells_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    rows = Table()
    rows.add_column(HOSTILE)
    rows.add_row(HOSTILE)
    terminal = Terminal()
    terminal.print(HOSTILE, style="bold", soft_wrap=True)
    terminal.print(rows)
    assert capsys.readouterr().out.count(SHOWN) == 3


def test_a_table_in_a_pipe_has_no_trailing_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    rows = Table()
    for heading in ("a", "longer", ""):
        rows.add_column(heading)
    rows.add_row("x", "", "")
    terminal = Terminal()
    rows.box = None
    terminal.print(rows)
    assert capsys.readouterr().out == " a  longer\n x\n"


def test_a_bundle_of_hostile_texts_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    named = sample_bundles.typical()
    hostile = sample_bundles.renamed(named, [HOSTILE + str(i) for i in range(4)])
    hostile.identity.environment["target_kernel"] = HOSTILE
    table.show(hostile, wide=True)
    shown = capsys.readouterr().out
    assert shown.count(SHOWN) >= 4
    table.show(hostile)
    shown += capsys.readouterr().out
    assert not (set(HOSTILE) - set(SHOWN)) & set(shown)
