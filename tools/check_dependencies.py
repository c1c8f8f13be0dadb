# SPDX-License-Identifier: BSD-2-Clause
"""Dependencies point one way: core <- {linux, kernel} in C, and from stage to earlier stage in
Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from findings import line_of, run, sources

# What the C files of a folder may include from.
C_FOLDERS = {"core": {"core"}, "linux": {"linux", "core"}, "kernel": {"kernel", "core"}}

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
    for path, content in sources(root, ".c", ".h", ".S", under=tuple(C_FOLDERS)):
        yield from _check_includes(root, path, content)
    for path, content in sources(root, ".py", under=("src/cyclometer",)):
        yield from _check_imports(path, content)


def _check_includes(root: Path, path: str, content: str) -> Iterator[str]:
    own = Path(path).parts[0]
    for include in _INCLUDE.finditer(content):
        folder = _folder_of(root, path, include[1])
        if folder is not None and folder not in C_FOLDERS[own]:
            line = line_of(content, include.start())
            yield f"{path}:{line}: {own} may not include {include[1]}, which is in {folder}"


def _folder_of(root: Path, path: str, header: str) -> str | None:
    """The top folder of an included header: beside the file, in its own top folder, from the root,
    or in another.
    """
    for start in (Path(path).parent, Path(Path(path).parts[0]), Path(), *map(Path, C_FOLDERS)):
        file = (root / start / header).resolve()
        if file.is_file() and file.is_relative_to(root.resolve()):
            return file.relative_to(root.resolve()).parts[0]
    return None


def _check_imports(path: str, content: str) -> Iterator[str]:
    package = list(Path(path).relative_to("src").with_suffix("").parts)
    own = package[1].removesuffix("__init__") if len(package) > 1 else ""
    if own and own not in RANK:
        yield f"{path}:1: {own} has no stage; give it one in tools/check_dependencies.py"
        return
    for line, imported in _imports(package[:-1], content):
        if imported in RANK and own and RANK[imported] > RANK[own]:
            yield f"{path}:{line}: {own} may not import {imported}, which is a later stage"


def _imports(package: list[str], content: str) -> Iterator[tuple[int, str]]:
    """(line, stage) of everything imported from cyclometer."""
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            modules = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            modules = [[*base, alias.name] for alias in node.names]
        else:
            continue
        yield from (
            (node.lineno, module[1])
            for module in modules
            if module[0] == "cyclometer" and len(module) > 1
        )


if __name__ == "__main__":
    run(check)
