# SPDX-License-Identifier: BSD-2-Clause
"""A matrix of configurations as a terminal table, as JSON, and as Markdown."""

from __future__ import annotations

from rich import box
from rich.table import Table

from cyclometer.compare.finding import Finding
from cyclometer.compare.matrix import ColumnMean, Matrix, MatrixRow, ratio
from cyclometer.compare.pairing import ComparedCircle
from cyclometer.report import identity
from cyclometer.report.comparison import paper
from cyclometer.report.documents import compared, members
from cyclometer.report.markdown import line, words
from cyclometer.report.table import latency

_MARKDOWN_ROWS = 25


def show(matrix: Matrix) -> None:
    """Prints rows, then the mean of every class, on standard output."""
    console = paper()
    console.print(
        _table("circle", matrix, [(row.contract.key, row_cells(row)) for row in matrix.rows])
    )
    means = [(name, mean_cells(means)) for name, means in matrix.means.items()]
    console.print(_table("geometric mean", matrix, means))
    for note in notes(matrix):
        console.print(note, style="dim", soft_wrap=True)
    console.print(sentence(matrix), style="bold", soft_wrap=True)


def _table(title: str, matrix: Matrix, rows: list[tuple[str, list[str]]]) -> Table:
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    result.add_column(title, overflow="fold")
    for name in matrix.columns:
        result.add_column(name, justify="right")
    for name, cells in rows:
        result.add_row(name, *cells)
    return result


def row_cells(row: MatrixRow) -> list[str]:
    """A latency a column, with its ratio to the first column, or the word for why there is none."""
    cells = []
    for circle, finding in zip(row.cells, row.findings, strict=True):
        if circle is None:
            cells.append("-")
        elif circle.estimate.latency is None or not circle.estimate.valid:
            cells.append("failed" if circle.estimate.failed else "invalid")
        else:
            times = ratio(finding)
            cells.append(
                latency(circle.estimate.latency)
                + (f" {row.unit}" if times is None else f" x{times:.2f}")
            )
    return cells


def mean_cells(means: tuple[ColumnMean, ...]) -> list[str]:
    """The ratio and how many rows it is the mean of; 1 for the reference itself."""
    of_others = [f"x{m.ratio:.2f} ({m.rows})" if m.ratio is not None else "-" for m in means[1:]]
    return ["1", *of_others]


def notes(matrix: Matrix) -> list[str]:
    """What the later columns state otherwise than the first about machine and build."""
    units = {row.unit for row in matrix.rows}
    differing = [(c, identity.sentences(found, units)) for c, found in differences(matrix).items()]
    return [f"{column}: {note}" for column, lines in differing for note in lines]


def differences(matrix: Matrix) -> dict[str, list[identity.Difference]]:
    """By column, what it states otherwise than the first one."""
    pairs = zip(matrix.columns[1:], matrix.environments[1:], strict=False)
    return {
        column: identity.differences(matrix.environments[0], environment)
        for column, environment in pairs
    }


def sentence(matrix: Matrix) -> str:
    """What was laid side by side, in one sentence."""
    common = sum(all(cell is not None for cell in row.cells) for row in matrix.rows)
    return (
        f"{len(matrix.rows)} rows in {len(matrix.columns)} configurations, {common} of them in "
        "all; ratios are to "
        f"{matrix.columns[0]}, means in parentheses name their rows."
    )


def as_json(matrix: Matrix) -> compared.Matrix:
    """The document; a cell is null where a column has no such circle."""
    return compared.Matrix(
        columns=list(matrix.columns),
        rows=[
            compared.MatrixRow(
                row.contract.key, row.unit, list(map(_cell, row.cells, row.findings))
            )
            for row in matrix.rows
        ],
        means=[
            compared.ClassMeans(name, [compared.Ratio(m.ratio, m.rows) for m in means])
            for name, means in matrix.means.items()
        ],
        differences={
            column: [members.Difference(*one) for one in found]
            for column, found in differences(matrix).items()
        },
        summary=sentence(matrix),
    )


def _cell(circle: ComparedCircle | None, finding: Finding | None) -> compared.Cell | None:
    if circle is None:
        return None
    e = circle.estimate
    return compared.Cell(
        value=members.value(e.latency),
        valid=e.valid,
        reason=finding.reason if finding else e.reason,
        change=finding.change if finding else None,
        verdict=finding.verdict if finding else None,
    )


def markdown(matrix: Matrix) -> str:
    """The means, and the rows that cost the most, at most _MARKDOWN_ROWS of them."""
    by_cost = sorted(
        matrix.rows,
        key=lambda row: -max((abs(f.change or 0) for f in row.findings if f), default=0),
    )
    head = [line(["", *map(words, matrix.columns)]), "|---|" + "--:|" * len(matrix.columns)]
    means = [_line(f"geometric mean, {name}", mean_cells(m)) for name, m in matrix.means.items()]
    rows = [_line(row.contract.key, row_cells(row)) for row in by_cost[:_MARKDOWN_ROWS]]
    left = len(matrix.rows) - len(rows)
    more = [f"\nand {left} more rows."] if left > 0 else []
    more += [f"\n- {words(note)}" for note in notes(matrix)]
    return "\n".join([f"**{words(sentence(matrix))}**", "", *head, *means, *rows, *more]) + "\n"


def _line(name: str, cells: list[str]) -> str:
    return line(words(cell) for cell in (name, *cells))
