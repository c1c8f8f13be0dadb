# SPDX-License-Identifier: BSD-2-Clause
"""Mutation run: change one operator at a time in the estimators and see whether some test turns
red.

    python tools/mutate.py [--only PATTERN] [--list] [FILE ...]

Each mutant runs in a child forked from an interpreter that has numpy, scipy and pytest loaded, so
that it costs its tests and nothing else. A mutant that no test kills must be explained in
tools/mutants.toml (`file`, `line` as the source has it, `change`, `why`); an unexplained
survivor, or an explanation of none, ends with exit code 1.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import os
import re
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
EXPLAINED = ROOT / "tools" / "mutants.toml"
ESTIMATORS = ("cyclometer/estimate/*.py", "cyclometer/compare/statistics.py")
TIMEOUT_S = 120
WARM = (
    "numpy",
    "scipy.stats",
    "scipy.ndimage",
    "pytest",
    "hypothesis.strategies",
    "hypothesis.extra.numpy",
    "statsmodels.stats.api",
    "statsmodels.tsa.stattools",
)

SWAPS: dict[type[ast.AST], tuple[type[ast.AST], str]] = {
    ast.Add: (ast.Sub, "+ -> -"),
    ast.Sub: (ast.Add, "- -> +"),
    ast.Mult: (ast.Div, "* -> /"),
    ast.Div: (ast.Mult, "/ -> *"),
    ast.FloorDiv: (ast.Mult, "// -> *"),
    ast.Pow: (ast.Mult, "** -> *"),
    ast.MatMult: (ast.Mult, "@ -> *"),
    ast.Lt: (ast.LtE, "< -> <="),
    ast.LtE: (ast.Lt, "<= -> <"),
    ast.Gt: (ast.GtE, "> -> >="),
    ast.GtE: (ast.Gt, ">= -> >"),
    ast.Eq: (ast.NotEq, "== -> !="),
    ast.NotEq: (ast.Eq, "!= -> =="),
    ast.Is: (ast.IsNot, "is -> is not"),
    ast.IsNot: (ast.Is, "is not -> is"),
    ast.And: (ast.Or, "and -> or"),
    ast.Or: (ast.And, "or -> and"),
    ast.BitAnd: (ast.BitOr, "& -> |"),
}
NAMES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "floor": "ceil",
    "ceil": "floor",
    "ppf": "isf",
    "isf": "ppf",
    "sf": "cdf",
    "argmin": "argmax",
    "argmax": "argmin",
}


@dataclass(frozen=True)
class Mutant:
    """One change: where it is and what it does; `node` and `variant` say the same to the tree."""

    file: str
    number: int
    line: str
    change: str
    node: int
    variant: int

    def tree(self) -> ast.Module:
        """The changed source, ready to be compiled."""
        tree = ast.parse((ROOT / self.file).read_text())
        _apply(next(n for i, n in enumerate(ast.walk(tree)) if i == self.node), self.variant)
        return tree

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {self.change}    {self.line}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file, in the order of its source."""
    text = path.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    # A decorator (frozen dataclasses) and `strict` of a zip guard against misuse; they compute
    # nothing.
    guards = {
        id(n) for d in ast.walk(tree) for o in getattr(d, "decorator_list", []) for n in ast.walk(o)
    }
    guards |= {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "strict"
    }
    seen: Counter[tuple[int, str]] = Counter()
    for index, node in enumerate(ast.walk(tree)):
        if id(node) in guards:
            continue
        for variant, change in enumerate(_changes(node)):
            number = getattr(node, "lineno", 0)
            seen[number, change] += 1
            label = f"{change} #{seen[number, change]}" if seen[number, change] > 1 else change
            yield Mutant(
                str(path.relative_to(ROOT)),
                number,
                lines[number - 1].strip(),
                label,
                index,
                variant,
            )


def _changes(node: ast.AST) -> list[str]:
    """What can be changed in this very node; `_apply` makes the change of the same index."""
    found: list[str] = []
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in SWAPS:
            found = [SWAPS[type(op)][1]]
        case ast.Compare(ops=ops):
            found = [
                f"{SWAPS[type(op)][1]}{_ordinal(i, ops)}"
                for i, op in enumerate(ops)
                if type(op) in SWAPS
            ]
        case ast.UnaryOp(op=ast.USub() | ast.Not() as op):
            found = ["drop -" if isinstance(op, ast.USub) else "drop not"]
        case ast.Constant(value=bool(value) | int(value) | float(value)):
            found = [f"{value} -> {_other(value)}"]
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in NAMES:
            found = [f"{name} -> {NAMES[name]}"]
        case ast.IfExp():
            found = ["swap branches"]
    return found


def _apply(node: ast.AST, variant: int) -> None:
    match node:
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            node.op = SWAPS[type(node.op)][0]()  # type: ignore[assignment]
        case ast.Compare(ops=ops):
            index = [i for i, op in enumerate(ops) if type(op) in SWAPS][variant]
            ops[index] = SWAPS[type(ops[index])][0]()  # type: ignore[call-overload]
        case ast.UnaryOp(op=op):
            node.op = ast.UAdd() if isinstance(op, ast.USub) else ast.Not()
            if isinstance(op, ast.Not):
                node.operand = ast.UnaryOp(ast.Not(), node.operand)
                ast.fix_missing_locations(node)
        case ast.Constant(value=bool(value) | int(value) | float(value)):
            node.value = _other(value)
        case ast.Attribute(attr=name):
            node.attr = NAMES[name]
        case ast.Name(id=name):
            node.id = NAMES[name]
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body


def _other(value: bool | int | float) -> bool | int | float:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else value * 1.25 or 1.0


def _ordinal(index: int, ops: Sequence[ast.AST]) -> str:
    return f" ({index + 1})" if len(ops) > 1 else ""


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves one module from a changed tree; all others load as usual."""

    def __init__(self, mutant: Mutant) -> None:
        self.path = ROOT / mutant.file
        self.name = ".".join(self.path.relative_to(SOURCE).with_suffix("").parts)
        self.tree = mutant.tree()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def start(mutant: Mutant | None) -> int:
    """Fork a child that runs the tests on a mutant (None: on the source as it is) and ends with 1
    when one is red.
    """
    child = os.fork()
    if child:
        return child
    signal.alarm(TIMEOUT_S)  # a mutant that never ends is killed by the default action
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if mutant:
        sys.meta_path.insert(0, _Mutated(mutant))
    os._exit(int(run_tests(mutant.file if mutant else "") != 0))


def run_tests(file: str) -> int:
    """The tests of one source file first, then those of the files that import it; the first red one
    ends the run.
    """
    import hypothesis
    import pytest

    # A failing example is enough: shrinking it would cost more than all else.
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutate", derandomize=True, database=None, deadline=None, phases=phases
    )
    hypothesis.settings.load_profile("mutate")
    # hypothesis is loaded before pytest could rewrite it, which is the point here.
    warm = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    # Only red or green is asked: what explains a failure, and other plugins, would cost more than
    # the tests.
    bare = ("--assert=plain", "-p", "no:cacheprovider", "-p", "no:unraisableexception")
    tests = map(
        str, tests_of(ROOT / file) if file else {t: 0 for f in estimators() for t in tests_of(f)}
    )
    return int(pytest.main(["-x", "-q", "-m", "not slow", *bare, *warm, *tests]))


def tests_of(source: Path) -> list[Path]:
    """The test file of a source and those of the sources that import it; simulated coverage is too
    slow to be here.
    """
    imports = re.compile(rf"^from .*\b{source.stem}\b", re.MULTILINE)
    users = [file for file in estimators() if file != source and imports.search(file.read_text())]
    tests = [
        ROOT / "tests" / file.parent.name / f"test_{file.stem}.py" for file in (source, *users)
    ]
    return [test for test in tests if test.exists()]


def estimators() -> list[Path]:
    return sorted(file for pattern in ESTIMATORS for file in SOURCE.glob(pattern))


def survivors(mutants: Sequence[Mutant], workers: int) -> list[Mutant]:
    """Run all mutants, `workers` at a time, and return those that no test killed."""
    running: dict[int, Mutant] = {}
    alive, waiting, done = [], list(mutants), 0
    while waiting or running:
        while waiting and len(running) < workers:
            mutant = waiting.pop(0)
            running[start(mutant)] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        done += 1
        if status == 0:
            alive.append(mutant)
            print(f"alive  {mutant}", file=sys.stderr, flush=True)
        if done % 50 == 0 or done == len(mutants):
            print(f"{done}/{len(mutants)} mutants, {len(alive)} alive", file=sys.stderr, flush=True)
    return alive


def explanations() -> dict[tuple[str, str, str], str]:
    """(file, source line, change) -> why the mutant cannot be killed."""
    if not EXPLAINED.exists():
        return {}
    entries = tomllib.loads(EXPLAINED.read_text()).get("survivor", [])
    return {(entry["file"], entry["line"], entry["change"]): entry["why"] for entry in entries}


def report(alive: Sequence[Mutant], total: int, seconds: float, tested: set[str]) -> int:
    """Print the survivors and every explanation that no longer explains one; 1 where either is left
    over.
    """
    known = explanations()
    unexplained = [m for m in alive if (m.file, m.line, m.change) not in known]
    found = {(m.file, m.line, m.change) for m in alive}
    stale = [key for key in known if key not in found and key[0] in tested]
    for mutant in unexplained:
        print(f"survivor  {mutant}")
    for key in stale:
        print(f"stale     {key[0]}: {key[2]}    {key[1]}")
    print(
        f"{total} mutants, {total - len(alive)} killed, {len(alive) - len(unexplained)} survivors "
        "explained, "
        f"{len(unexplained)} unexplained, {len(stale)} explanations stale, {seconds:.0f} s"
    )
    return 1 if unexplained or stale else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="*", type=Path, help="sources to mutate; default: all estimators"
    )
    parser.add_argument(
        "--only", default="*", help="pattern on `file:line: change`, e.g. '*levels.py:4?:*'"
    )
    parser.add_argument("--list", action="store_true", help="list the mutants and run nothing")
    options = parser.parse_args()
    files = [file.resolve() for file in options.files] or estimators()
    mutants = [
        m
        for file in files
        for m in mutants_of(file)
        if fnmatch.fnmatch(str(m), f"*{options.only}*")
    ]
    if options.list:
        print(*mutants, sep="\n")
        return 0
    for module in WARM:
        importlib.import_module(module)
    gc.freeze()  # no child looks through what the parent has loaded
    start(None)
    if os.wait()[1]:
        print("The tests are red before anything is changed; mend them first.", file=sys.stderr)
        return 2
    began = time.monotonic()
    alive = survivors(mutants, os.cpu_count() or 1)
    tested = {m.file for m in mutants} if options.only == "*" else set()
    return report(alive, len(mutants), time.monotonic() - began, tested)


if __name__ == "__main__":
    sys.exit(main())
