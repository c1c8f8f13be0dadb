# SPDX-License-Identifier: BSD-2-Clause
"""A public class of src/cyclometer has a name of its own, so that a search finds one definition.

Two kinds are exempt: classes private to a module, and the documents of report/documents.py, which
describe as JSON what classes of the same names are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from findings import run, sources

SOURCES = "src/cyclometer/"
DOCUMENTS = "src/cyclometer/report/documents.py"


def check(root: Path) -> Iterator[str]:
    first: dict[str, str] = {}
    for path, content in sources(root, ".py"):
        if not path.startswith(SOURCES) or path == DOCUMENTS:
            continue
        for node in ast.parse(content).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            place = f"{path}:{node.lineno}"
            if first.setdefault(node.name, place) != place:
                yield f"{place}: class {node.name} is also in {first[node.name]}: rename one"


if __name__ == "__main__":
    run(check)
