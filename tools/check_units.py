# SPDX-License-Identifier: BSD-2-Clause
"""A number that is a time, a rate or an amount of memory carries its unit as the last word of its
name.

The rule: a variable, field or parameter of a numeric type whose name *ends* with a quantity
(`timeout`, `start_time`) has no unit; `timeout_s` has. A size is meant only where it is one of
memory (`stack_size`), because KBench's test size counts turns. A C `size_t` counts bytes by
definition. Parameters of a `command` are named by its options.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from findings import c_code, line_of, run, sources

QUANTITY = re.compile(
    r"(?:^|_)(?:time|latency|duration|delay|timeout|period|elapsed|deadline|budget|freq|frequency|rate|memory)$"
    r"|(?:^|_)(?:buffer|stack|heap|page|cache|block|file|memory|message)_size$"
)

# path: {name: why it has no unit}
ALLOWED: dict[str, dict[str, str]] = {}

_C_NUMBER = re.compile(
    r"\b(?:(?:unsigned|signed|long|short|int|char|double|float|ssize_t|u?int\d+_t)\s+)+"
    r"((?:\w+(?:\[[^\]]*\])?(?:\s*=\s*[^,;(){}]+)?\s*,\s*)*\w+)\s*(?=[;,=)\[:])"
)
_DECLARATOR = re.compile(r"(?:^|,)\s*(\w+)")


def is_bare(name: str) -> bool:
    """Whether `name` ends with a quantity, and so without a unit."""
    return QUANTITY.search(name.lower()) is not None


def check(root: Path, allowed: dict[str, dict[str, str]] | None = None) -> Iterator[str]:
    reasons = ALLOWED if allowed is None else allowed
    excused = {(path, name) for path, names in reasons.items() for name in names}
    bare = {(path, name): line for path, line, name in _numbers(root) if is_bare(name)}
    for (path, name), line in bare.items():
        if (path, name) not in excused:
            yield (
                f"{path}:{line}: {name} names no unit; end it with one (_ns, _s, _hz, _bytes, ...)"
            )
    for path, name in sorted(excused - bare.keys()):
        yield f"tools/check_units.py: {name} in {path} needs no excuse any more: remove it"


def _numbers(root: Path) -> Iterator[tuple[str, int, str]]:
    """(path, line, name) of every number that is declared."""
    for path, content in sources(root, ".c", ".h", under=("core", "linux", "kernel", "machines")):
        code = c_code(content)
        for match in _C_NUMBER.finditer(code):
            for name in _DECLARATOR.findall(match[1]):
                yield path, line_of(code, match.start()), name
    for path, content in sources(root, ".py", under=("src", "tools")):
        for node in _nodes(ast.parse(content)):
            name = _declared(node)
            if name is not None:
                yield path, getattr(node, "lineno", 0), name


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node, but not the parameters of a click command."""
    for node in ast.iter_child_nodes(tree):
        if not (
            isinstance(tree, ast.FunctionDef)
            and tree.name == "command"
            and isinstance(node, ast.arguments)
        ):
            yield node
            yield from _nodes(node)


def _declared(node: ast.AST) -> str | None:
    """The name of a number that a Python node declares: an annotated field or parameter, or a
    constant.
    """
    if isinstance(node, ast.arg) and _is_number(node.annotation):
        return node.arg
    if (
        isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and _is_number(node.annotation)
    ):
        return node.target.id
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    ):
        return node.targets[0].id if type(node.value.value) in (int, float) else None
    return None


def _is_number(annotation: ast.expr | None) -> bool:
    return annotation is not None and bool(
        re.fullmatch(r"(int|float)( \| None)?", ast.unparse(annotation))
    )


if __name__ == "__main__":
    run(check)
