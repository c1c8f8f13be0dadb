# SPDX-License-Identifier: BSD-2-Clause
"""Functions are short: the median of each language at most 15 lines, none above 60 without a stated
reason.

C counts from the opening brace in column 0 to the closing one; Python from `def`, without the
docstring.
"""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from findings import c_code, line_of, run, sources

MEDIAN_LINES = 15
MOST_LINES = 60

# path: {function: why it may be longer}
ALLOWED: dict[str, dict[str, str]] = {}


class Function(NamedTuple):
    path: str
    line: int
    name: str
    lines: int


def python_functions(path: str, content: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            first = node.body[0]
            if ast.get_docstring(node) is not None:
                lines -= (first.end_lineno or first.lineno) - first.lineno + 1
            yield Function(path, node.lineno, node.name, lines)


_C_BODY = re.compile(r"^\{$.*?^\}", re.M | re.S)
_C_NAME = re.compile(r"(\w+)\s*\([^;{}]*$")


def c_functions(path: str, content: str) -> Iterator[Function]:
    code = c_code(content)
    for body in _C_BODY.finditer(code):
        name = _C_NAME.search(code, max(0, body.start() - 400), body.start())
        yield Function(
            path, line_of(code, body.start()), name[1] if name else "?", body[0].count("\n") + 1
        )


def check(root: Path, allowed: dict[str, dict[str, str]] | None = None) -> Iterator[str]:
    reasons = ALLOWED if allowed is None else allowed
    python = [f for path, content in sources(root, ".py") for f in python_functions(path, content)]
    c = [f for path, content in sources(root, ".c", ".h") for f in c_functions(path, content)]
    for language, functions in (("Python", python), ("C", c)):
        median = statistics.median(f.lines for f in functions) if functions else 0
        if median > MEDIAN_LINES:
            yield (
                f"the median {language} function has {median:g} lines, more than "
                f"{MEDIAN_LINES}: split the long ones"
            )
    yield from _too_long([*python, *c], reasons)


def _too_long(functions: Iterable[Function], reasons: dict[str, dict[str, str]]) -> Iterator[str]:
    long = {(f.path, f.name): f for f in functions if f.lines > MOST_LINES}
    excused = {(path, name) for path, names in reasons.items() for name in names}
    for key, f in long.items():
        if key not in excused:
            yield (
                f"{f.path}:{f.line}: {f.name} has {f.lines} lines, more than {MOST_LINES}: "
                "split it or give a reason"
            )
    for path, name in sorted(excused - long.keys()):
        yield f"tools/check_functions.py: {name} in {path} needs no excuse any more: remove it"


if __name__ == "__main__":
    run(check)
