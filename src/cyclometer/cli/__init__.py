# SPDX-License-Identifier: BSD-2-Clause
"""The command line. Commands live in modules of their own and are imported when they run."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback

import rich_click as click

from cyclometer import __version__
from cyclometer.cli import streams
from cyclometer.cli.common import complain, did_you_mean
from cyclometer.errors import DEFECT, FAILED, PASS, CyclometerError, UsageError

# name -> module whose `command` it is; the modules import what is heavy only when they run
COMMANDS = {
    "run": "cyclometer.cli.run",
    "show": "cyclometer.cli.show",
    "ingest": "cyclometer.cli.ingest",
    "lint": "cyclometer.cli.lint",
    "compare": "cyclometer.cli.compare",
    "gate": "cyclometer.cli.gate",
    "ab": "cyclometer.cli.ab",
    "list": "cyclometer.cli.list",
    "explain": "cyclometer.cli.explain",
    "kdiff": "cyclometer.cli.kdiff",
    "doctor": "cyclometer.cli.doctor",
    "report": "cyclometer.cli.report",
    "export": "cyclometer.cli.export",
    "prove-move": "cyclometer.cli.prove_move",
    "target": "cyclometer.cli.target",
    "store": "cyclometer.cli.store",
    "schema": "cyclometer.cli.schema",
    "glossary": "cyclometer.cli.glossary",
    "sweep": "cyclometer.cli.sweep",
    "site": "cyclometer.cli.site",
    "bisect": "cyclometer.cli.bisect",
    "history": "cyclometer.cli.history",
    "matrix": "cyclometer.cli.matrix",
    "aa": "cyclometer.cli.aa",
}


class _Lazy(click.RichGroup):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        # not list(): once `cyclometer list` is imported that name is a module here
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        del ctx
        if name not in COMMANDS:
            hint = did_you_mean(name, COMMANDS)
            raise UsageError(f"there is no command {name!r}{hint}; `cyclometer -h` lists them")
        command: click.Command = importlib.import_module(COMMANDS[name]).command
        command.name = name  # each module calls its own `command`; help shows it under this name
        return command


@click.group(
    cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="cyclometer")
def cli() -> None:
    """A latency laboratory for operating-system kernels.

    Exit codes: 0 pass or equivalent, 1 confirmed regression or a latency above `run --break-on`,
    2 usage, 3 undecided, 4 not comparable or environment refused, 5 measurement or transport
    failure, 6 nothing measured, 70 a defect of this program.

    Example: cyclometer run --quick && cyclometer show
    """


def main() -> None:
    """Runs a command; whatever goes wrong becomes one sentence and a documented exit code."""
    streams.make_usable()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an end in order, as with Ctrl-C
    sys.exit(_exit_code())


def _exit_code() -> int:
    try:
        code = _run()
        sys.stdout.flush()  # here, where a full disk or a closed pipe can still be reported
        return code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:  # the reader of our output has seen enough, as `head` does
        streams.discard_output()
        return PASS
    except Exception as error:  # nothing may end with 1, which means a regression
        sentence, code = _explained(error)
        complain(sentence)
        return code


def _run() -> int:
    try:
        return int(cli(standalone_mode=False) or PASS)
    except SystemExit as end:  # how commands return a code
        return end.code if isinstance(end.code, int) else PASS


def _explained(error: Exception) -> tuple[str, int]:
    """A sentence about what ended a command, and the exit code."""
    if isinstance(error, CyclometerError):
        return str(error), error.exit_code
    if isinstance(error, click.Abort):
        return "interrupted", FAILED
    if isinstance(error, OSError):
        streams.discard_output()
        return _of_system(error), FAILED
    return _of_defect(error), DEFECT


def _of_system(error: OSError) -> str:
    """A sentence about what the operating system refused."""
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    return f"{where}{error.strerror or error}; free space or choose another place, and try again"


def _of_defect(error: Exception) -> str:
    """A sentence about an exception that nobody expected, with the place a report should name."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if os.environ.get("CYCLOMETER_DEBUG"):
        traceback.print_exception(error)
    place = f"{type(error).__name__} in {os.path.basename(last.filename)} line {last.lineno}"
    return (
        f"internal error ({place}: {error}); please report it with the traceback that "
        "CYCLOMETER_DEBUG=1 prints"
    )
