# SPDX-License-Identifier: BSD-2-Clause
"""The command line. Commands live in modules of their own and are imported when they run."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import rich_click as click

from cyclometer import __version__
from cyclometer.errors import FAILED, CyclometerError

# name -> module whose `command` it is, and the line that `--help` shows without importing it
COMMANDS = {
    "run": ("cyclometer.cli.run", "Measure a target and store a bundle."),
    "show": ("cyclometer.cli.show", "Print what a bundle says."),
    "list": ("cyclometer.cli.list", "List circles with their contracts, and targets."),
    "doctor": ("cyclometer.cli.doctor", "Check this machine; tune and restore it."),
    "export": ("cyclometer.cli.export", "Write a bundle in another tool's format."),
    "target": ("cyclometer.cli.target", "Build what a target needs."),
}


class _Lazy(click.RichGroup):
    """A group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="cyclometer")
def cli() -> None:
    """A latency laboratory for operating-system kernels.

    Exit codes: 0 pass or equivalent, 1 confirmed regression, 2 usage, 3 undecided, 4 not comparable or
    environment refused, 5 measurement or transport failure, 6 nothing measured.

    Example: cyclometer run --quick && cyclometer show
    """


def main() -> None:
    """Runs a command; every error that is ours becomes one sentence and its exit code."""
    try:
        cli(standalone_mode=False)
    except CyclometerError as error:
        click.echo(f"cyclometer: {error}", err=True)
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        sys.exit(FAILED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)  # the reader of our output has seen enough
