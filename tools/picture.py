# SPDX-License-Identifier: BSD-2-Clause
"""Makes docs/pictures/terminal.svg, the picture of the README: the commands below, really run here,
and what they printed.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from findings import ROOT

PICTURE = "docs/pictures/terminal.svg"
COLUMNS = 100
COMMANDS = (
    "cyclometer run --budget 12s -o before --only 'pipe.round_trip.*.equal' --only 'mutex.*' "
    "--only signal.self.kill",
    "cyclometer ab --env-after GLIBC_TUNABLES=glibc.malloc.tcache_count=0 --budget 12s "
    "--only 'memory.malloc_free.*' --format mail",
)
# rich would have browsers fetch a font; a picture of ours needs no network
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.S)


def recorded(folder: Path) -> Text:
    """Every command behind a prompt, and its output."""
    text = Text()
    for command in COMMANDS:
        text.append("$ ", style="bold green")
        text.append(command + "\n", style="bold")
        text.append_text(Text.from_ansi(_output(command, folder) + "\n"))
    return text


def _output(command: str, folder: Path) -> str:
    """What a command prints on standard output of a terminal of COLUMNS."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1, 3):  # verdicts are not failures
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout.rstrip()


def main() -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    with tempfile.TemporaryDirectory() as folder:
        console.print(recorded(Path(folder)))
    svg = _FONT.sub("", console.export_svg(title="cyclometer"))
    (ROOT / PICTURE).parent.mkdir(exist_ok=True)
    (ROOT / PICTURE).write_text(svg)


if __name__ == "__main__":
    main()
