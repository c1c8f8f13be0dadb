# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer gate --expect`: a bundle against a file of counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli import common
from cyclometer.errors import CyclometerError, UsageError

if TYPE_CHECKING:
    from cyclometer.compare.expected import Expected, Tables, Verdict
    from cyclometer.explain.difference import Difference

_MOST_EXPLAINED = 20


def gate(path: Path, operands: Sequence[str], update: bool, as_json: bool) -> int:
    """Judges the last operand, a bundle, by the file; the exit code. One before it is a bundle of
    the state that the file describes: its traces show which functions carry a change.
    """
    from cyclometer.bundle import store
    from cyclometer.compare import expected
    from cyclometer.report import expected as report

    if not 1 <= len(operands) <= 2 or not all(Path(one).is_dir() for one in operands):
        raise UsageError("--expect takes one bundle, or one of the state before it and one after")
    *before, after = (Path(one) for one in operands)
    bundle = store.read(after)
    if update:
        known = expected.read(path) if path.exists() else expected.Expected({}, {})
        return _update(path, known, expected.latencies(bundle))
    found = expected.judge(expected.read(path), bundle)
    functions = _functions(before[0], after, found) if before else {}
    if as_json:
        common.print_json(report.as_json(found, functions))
    else:
        report.show(found, functions)
    return report.code(found)


def _update(path: Path, known: Expected, measured: Tables) -> int:
    from cyclometer.compare import expected

    text = expected.written(known, measured)
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); choose another") from error
    changed = sum(
        known.tables.get(table, {}).get(key) != value
        for table, rows in measured.items()
        for key, value in rows.items()
    )
    total = sum(map(len, measured.values()))
    click.echo(f"{path}: {changed} of {total} counts written anew")
    return 0


def _functions(before: Path, after: Path, found: Sequence[Verdict]) -> dict[str, Difference]:
    """Key -> what carries its change, for the rows of which both bundles keep a trace."""
    from cyclometer.explain import sources
    from cyclometer.explain.difference import difference
    from cyclometer.explain.explanation import explain

    changed = [one.key for one in found if one.verdict == "changed"]
    by_key = {}
    for key in changed[:_MOST_EXPLAINED]:
        try:
            sides = [explain(sources.kept(path, key)["steady"]) for path in (before, after)]
            by_key[key] = difference(*sides)
        except CyclometerError:
            continue  # there is no trace of this one: report its count only
    return by_key
