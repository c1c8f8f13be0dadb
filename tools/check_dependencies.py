# SPDX-License-Identifier: BSD-2-Clause
"""Dependencies point one way: core <- {linux, kernel} in C, and from stage to earlier stage in
Python. No file needs itself by way of others: a header by includes, a module by imports.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from findings import line_of, run, sources

# What the C files of a folder may include from.
C_FOLDERS = {
    "core": {"core"},
    "linux": {"linux", "core"},
    "kernel": {"kernel", "core"},
    "machines": {"machines"},
}

# The stages of src/cyclometer; a module imports from its own stage or an earlier one.
STAGES = [
    {"errors", "units", "text", "environment", "plugins", "git"},
    {"record"},
    {"bundle"},
    {"targets", "ingest", "doctor"},
    {"estimate"},
    {"compare"},
    {"store"},
    {"lint"},
    {"explain"},
    {"report"},
    {"sweep", "site"},
    {"cli", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(STAGES) for name in names}

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def check(root: Path) -> Iterator[str]:
    needs: dict[str, set[str]] = {}
    for path, content in sources(root, ".c", ".cpp", ".h", ".S", under=tuple(C_FOLDERS)):
        included = dict(_included(root, path, content))
        needs[path] = set(included.values())
        yield from _check_includes(path, included)
    for path, content in sources(root, ".py", under=("src/cyclometer",)):
        imported = list(_imports(path, content))
        files = (_module(root, name) for _, name in imported)
        needs[path] = {file for file in files if file and file != path}
        yield from _check_imports(path, imported)
    yield from _check_circles(needs)


def _check_circles(needs: Mapping[str, set[str]]) -> Iterator[str]:
    """One finding at most: the way round a circle of files."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        first, *others = reversed(error.args[1])
        yield f"{first}:1: needs itself, by way of {', '.join(others)}"


def _check_includes(path: str, included: Mapping[tuple[int, str], str]) -> Iterator[str]:
    own = Path(path).parts[0]
    for (line, header), file in included.items():
        folder = Path(file).parts[0]
        if folder not in C_FOLDERS[own]:
            yield f"{path}:{line}: {own} may not include {header}, which is in {folder}"


def _included(root: Path, path: str, content: str) -> Iterator[tuple[tuple[int, str], str]]:
    """(line, header as it is written), and its file, of each header of this repository."""
    for include in _INCLUDE.finditer(content):
        file = _header(root, path, include[1])
        if file is not None:
            yield (line_of(content, include.start()), include[1]), file


def _header(root: Path, path: str, header: str) -> str | None:
    """Beside the file, in its own top folder, from the root, or in another."""
    for start in (Path(path).parent, Path(Path(path).parts[0]), Path(), *map(Path, C_FOLDERS)):
        file = (root / start / header).resolve()
        if file.is_file() and file.is_relative_to(root.resolve()):
            return file.relative_to(root.resolve()).as_posix()
    return None


def _check_imports(path: str, imported: Iterable[tuple[int, list[str]]]) -> Iterator[str]:
    package = list(Path(path).relative_to("src").with_suffix("").parts)
    own = package[1].removesuffix("__init__") if len(package) > 1 else ""
    if own and own not in RANK:
        yield f"{path}:1: {own} has no stage; give it one in tools/check_dependencies.py"
        return
    for line, (_, stage, *_) in imported:
        if stage in RANK and own and RANK[stage] > RANK[own]:
            yield f"{path}:{line}: {own} may not import {stage}, which is a later stage"


def _imports(path: str, content: str) -> Iterator[tuple[int, list[str]]]:
    """(line, dotted name) of everything imported from cyclometer."""
    package = list(Path(path).relative_to("src").parent.parts)
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            names = [[*base, alias.name] for alias in node.names]
        else:
            continue
        yield from (
            (node.lineno, name) for name in names if name[0] == "cyclometer" and len(name) > 1
        )


def _module(root: Path, name: Sequence[str]) -> str | None:
    """The file of a module, or of the one that defines what is imported from it."""
    for length in (len(name), len(name) - 1):
        path = Path("src", *name[:length])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if (root / file).is_file():
                return file.as_posix()
    return None


if __name__ == "__main__":
    run(check)
