# SPDX-License-Identifier: BSD-2-Clause
"""NAME=VALUE is read alike, and refused alike, by every option that takes it."""

from __future__ import annotations

import click
import pytest

from cyclometer.cli.assignments import assignment, assignments, choices


def test_a_value_may_be_empty_and_may_hold_an_equals_sign() -> None:
    assert assignment("append=quiet a=b") == ("append", "quiet a=b")
    assert assignment("board=") == ("board", "")


def test_commas_separate_assignments_or_values() -> None:
    assert assignments("mcs=on,timer=mtime") == {"mcs": "on", "timer": "mtime"}
    assert assignments("") == {}
    assert choices("mcs=off,on") == ("mcs", ["off", "on"])
    with pytest.raises(click.BadParameter, match="lists no value"):
        choices("mcs=")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--config", "mcs"],
        ["run", "--config", "mcs=on,"],
        ["run", "--matrix", "mcs"],
        ["run", "--matrix", "=off,on"],
        ["explain", "a.b", "--config", "=on"],
        ["export", "--where", "mcs"],
        ["ingest", "file", "--set", "board"],
        ["compare", "a", "b", "--across", "=x,y"],
        ["ab", "--env-before", "NAME"],
    ],
    ids=lambda words: f"{words[0]} {' '.join(words[-2:])}",
)
def test_every_option_refuses_what_is_not_an_assignment_in_one_sentence(
    arguments: list[str],
) -> None:
    from cyclometer.cli import cli

    with pytest.raises(click.BadParameter) as refused:
        cli.main(arguments, standalone_mode=False)
    message = refused.value.format_message()
    assert "is not an assignment; write it as NAME=VALUE" in message
    assert arguments[-2] in message
    assert "\n" not in message
