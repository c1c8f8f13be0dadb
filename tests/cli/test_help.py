# SPDX-License-Identifier: BSD-2-Clause
"""What `--help` says agrees with what the commands do."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import click
import pytest

from cyclometer.cli import COMMANDS
from cyclometer.compare.exact import LAYOUT_FLOORS


def options() -> Iterator[tuple[str, click.Option]]:
    """Every option of every command and of what is below it."""
    waiting = [(name, importlib.import_module(module).command) for name, module in COMMANDS.items()]
    for name, command in waiting:
        yield from ((name, one) for one in command.params if isinstance(one, click.Option))
        if isinstance(command, click.Group):
            waiting += [(f"{name} {below}", one) for below, one in command.commands.items()]


@pytest.mark.parametrize("command", ["compare", "gate"])
def test_the_layout_floors_in_the_help_are_those_in_use(command: str) -> None:
    helps = {o.name: o.help or "" for name, o in options() if name == command}
    for timed, floor in LAYOUT_FLOORS.items():
        assert f"{floor:.0%} of {'cycles of ' * (timed == 'turns')}{timed}" in helps["layout_floor"]


def test_every_option_has_a_help_text_and_one_way_to_write_its_default() -> None:
    for name, option in options():
        text = option.help or ""
        assert text, f"{name} {option.opts}"
        assert not re.search(r"(?<!\[)default[: ]|\[(?!default: )", text), f"{name}: {text}"
