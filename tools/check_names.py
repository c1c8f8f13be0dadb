# SPDX-License-Identifier: BSD-2-Clause
"""A public class of src/cyclometer has a name of its own, so that a search finds one definition.

Classes private to a module are exempt. Documents, which are in report/documents/, have names unlike
each other's, but may have those of the classes that they describe as JSON.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from findings import run, sources

SOURCES = "src/cyclometer/"
DOCUMENTS = "src/cyclometer/report/documents/"


def check(root: Path) -> Iterator[str]:
    first: dict[tuple[bool, str], str] = {}
    for path, content in sources(root, ".py"):
        if not path.startswith(SOURCES):
            continue
        for node in ast.parse(content).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            place = f"{path}:{node.lineno}"
            name = (path.startswith(DOCUMENTS), node.name)
            if first.setdefault(name, place) != place:
                yield f"{place}: class {node.name} is also in {first[name]}: rename one"


if __name__ == "__main__":
    run(check)
