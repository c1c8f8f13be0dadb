# SPDX-License-Identifier: BSD-2-Clause
"""The command line. Commands live in modules of their own and are imported when they run."""

from __future__ import annotations

import importlib
import os
import sys

import rich_click as click

from cyclometer import __version__
from cyclometer.errors import FAILED, CyclometerError

# name -> module whose `command` it is; the modules import what is heavy only when they run
COMMANDS = {
    "run": "cyclometer.cli.run",
    "show": "cyclometer.cli.show",
    "ingest": "cyclometer.cli.ingest",
    "lint": "cyclometer.cli.lint",
    "compare": "cyclometer.cli.compare",
    "gate": "cyclometer.cli.gate",
    "list": "cyclometer.cli.list",
    "explain": "cyclometer.cli.explain",
    "doctor": "cyclometer.cli.doctor",
    "report": "cyclometer.cli.report",
    "export": "cyclometer.cli.export",
    "target": "cyclometer.cli.target",
}


class _Lazy(click.RichGroup):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [*COMMANDS]  # not list(): once `cyclometer list` is imported that name is a module here

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        del ctx
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[name]).command
        command.name = name  # each module calls its own `command`; help shows it under this name
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Runs the command; a reader of our output that has seen enough (`| head`) is no failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


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
        sys.exit(cli(standalone_mode=False))
    except CyclometerError as error:
        click.echo(f"cyclometer: {error}", err=True)
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(FAILED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
