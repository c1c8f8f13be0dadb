# SPDX-License-Identifier: BSD-2-Clause
"""Stages the pages of the documentation site below build/documentation, in the folders that they
have here, so that their links lead to the same pages; and writes the reference pages that are made
of the program itself. `make site` then runs mkdocs on them.
"""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from cyclometer.cli import COMMANDS
from cyclometer.cli.glossary import GLOSSARY
from cyclometer.report.documents import kinds
from findings import ROOT

STAGED = "build/documentation"
PAGES = ("*.md", "docs/**/*.md", "core/README.md", "kernel/README.md", "machines/*/README.md")
HOME = "README.md"
ADR = "docs/adr"
_LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
_WIDTH = 100


def stage(root: Path, folder: Path) -> None:
    """Writes every page, and every file of this repository that a page links to."""
    shutil.rmtree(folder, ignore_errors=True)
    for page in pages(root):
        text = (root / page).read_text()
        for target in _linked(root, page, text):
            _copy(root, folder, target)
        _write(folder / page, _without_folders(root, page, text))
    _write(folder / ADR / "index.md", decisions(root))
    home = (folder / HOME).read_text()
    (folder / HOME).unlink()
    _write(folder / "index.md", home)
    for path in folder.rglob("*.md"):  # what linked to the README links to the first page
        text = path.read_text()
        depth = "../" * len(path.relative_to(folder).parent.parts)
        path.write_text(text.replace(f"]({depth}{HOME})", f"]({depth}index.md)"))
    for name, text in reference().items():
        _write(folder / "reference" / name, text)


def pages(root: Path) -> list[Path]:
    """The pages that are written by hand or kept under version control, relative to `root`."""
    return sorted({path.relative_to(root) for one in PAGES for path in root.glob(one)})


def reference() -> dict[str, str]:
    """File name -> text of the pages that are made of the program."""
    return {"commands.md": commands(), "json.md": schemas(), "glossary.md": glossary()}


def commands() -> str:
    """The help of every command."""
    parts = ["# Commands\n", "Exit codes of all of them: see `cyclometer --help`.\n"]
    for name, command in _commands():
        context = click.Context(command, info_name=f"cyclometer {name}", max_content_width=_WIDTH)
        context.terminal_width = _WIDTH
        text = click.Command.get_help(_plain(command), context)
        parts.append(f"## cyclometer {name}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def _commands() -> Iterator[tuple[str, click.Command]]:
    for name, module in COMMANDS.items():
        command = importlib.import_module(module).command
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", one) for below, one in command.commands.items())


def _plain(command: click.Command) -> click.Command:
    """The command without colours and frames."""
    return click.Command(command.name, params=command.params, help=command.help)


def schemas() -> str:
    """What each kind of JSON document says."""
    head = (
        "# JSON schemas\n\nEvery document that a command prints with `--json` is an object whose "
        "`schema` is one of these, with its version. `cyclometer schema KIND` prints the JSON "
        "Schema.\n\n| schema | printed by |\n|---|---|\n"
    )
    rows = [f"| `{kinds.name(kind)}` | {kinds.describe(kind)} |" for kind in kinds.KINDS]
    return head + "\n".join(rows) + "\n"


def glossary() -> str:
    """What `cyclometer glossary` prints."""
    rows = [f"| {word} | {meaning} |" for word, meaning in GLOSSARY.items()]
    return "\n".join(["# Glossary\n", "| word | meaning |", "|---|---|", *rows, ""])


def _linked(root: Path, page: Path, text: str) -> Iterator[Path]:
    """Files of the repository that a page links to and that are not pages."""
    for target, _ in _LINK.findall(text):
        path = (root / page.parent / target).resolve()
        if path.is_file() and path.suffix != ".md" and path.is_relative_to(root):
            yield path.relative_to(root)


def _without_folders(root: Path, page: Path, text: str) -> str:
    """The text without links to folders: a site has none, except for that of the decisions."""

    def kept(link: re.Match[str]) -> str:
        path = (root / page.parent / link[2]).resolve()
        if path == (root / ADR).resolve():
            return f"[{link[1]}]({link[2].rstrip('/')}/index.md)"
        return link[1] if path.is_dir() else link[0]

    return re.sub(r"\[([^\]]+)\]\(([^)\s#]+)\)", kept, text)


def decisions(root: Path) -> str:
    """A page that lists the decisions by their titles."""
    records = sorted((root / ADR).glob("0*.md"))
    titles = [record.read_text().splitlines()[0].lstrip("# ") for record in records]
    lines = [f"- [{title}]({record.name})" for title, record in zip(titles, records, strict=True)]
    return "\n".join(["# Decisions\n", *lines, ""])


def _copy(root: Path, folder: Path, path: Path) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(root / path, folder / path)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


if __name__ == "__main__":
    stage(ROOT, ROOT / STAGED)
    sys.stdout.write(f"{STAGED}\n")
