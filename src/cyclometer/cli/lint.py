# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer lint`: what is wrong with the data, before anyone argues about it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer import errors
from cyclometer.cli.common import load, print_json

if TYPE_CHECKING:
    from cyclometer.bundle.model import Bundle
    from cyclometer.lint import Issue
    from cyclometer.report.documents import checked

COLOURS = {"error": "red", "warning": "yellow", "note": "blue"}
_MOST = 5  # findings shown of one rule, where there are two more at least


@click.command("lint")
@click.argument("bundles", nargs=-1, type=click.Path(path_type=Path), metavar="BUNDLE...")
@click.option("--strict", is_flag=True, help="Exit with 4 if a finding is an error.")
@click.option(
    "--rules", is_flag=True, help="Explain the rules and how to fix what they find, and exit."
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings, or the rules, as JSON.")
def command(bundles: tuple[Path, ...], strict: bool, rules: bool, as_json: bool) -> None:
    """Find what is wrong with the data of bundles, or of other tools' files.

    An error is a figure that is wrong, a warning one that misleads, a note one that needs care.
    `--rules` explains each rule. The exit code is 0 whatever is found, unless --strict is given.

    Example: cyclometer lint results/before change-table.md
    """
    from cyclometer.lint import RULES, check
    from cyclometer.report.documents import checked

    if rules:
        described = [checked.Rule(r.id, r.level, r.title, r.explanation, r.fix) for r in RULES]
        if as_json:
            print_json(checked.Rules(described))
        else:
            click.echo("\n".join(map(_explained, described)))
        return
    if not bundles:
        raise errors.UsageError("no bundle is named; give one, or a file that `ingest` reads")
    found = [_linted(path, bundle := load(path), check(bundle)) for path in bundles]
    if as_json:
        print_json(checked.Lint(found))
    else:
        for one in found:
            _print(one)
    wrong = any(finding.level == "error" for one in found for finding in one.findings)
    sys.exit(errors.NOT_COMPARABLE if strict and wrong else errors.PASS)


def _linted(path: Path, bundle: Bundle, findings: list[Issue]) -> checked.LintedBundle:
    from cyclometer.report.documents import checked

    keys = [row.contract.key for row in bundle.identity.rows]
    listed = [
        checked.Issue(f.rule, f.level, f.what, [checked.LintRow(i, keys[i]) for i in f.rows])
        for f in findings
    ]
    return checked.LintedBundle(str(path), listed)


def _print(linted: checked.LintedBundle) -> None:
    from cyclometer.lint import RULES

    findings = linted.findings
    counts = {level: sum(f.level == level for f in findings) for level in COLOURS}
    click.echo(
        f"{linted.bundle}: "
        + (", ".join(f"{n} {level}(s)" for level, n in counts.items() if n) or "nothing found")
    )
    for rule in RULES:
        mine = [finding for finding in findings if finding.rule == rule.id]
        if mine:
            level = min((finding.level for finding in mine), key=list(COLOURS).index)
            click.echo(
                f"  {click.style(rule.id, fg=COLOURS[level], bold=True)} ({level}): {rule.title}"
            )
            left = len(mine) - _MOST if len(mine) > _MOST + 1 else 0
            for finding in mine[: len(mine) - left]:
                click.echo(f"    {finding.what}")
            if left:
                click.echo(f"    and {left} more; --json lists them")
            click.echo(f"    fix: {rule.fix}")


def _explained(rule: checked.Rule) -> str:
    head = f"{rule.id} ({rule.level}): {rule.title}"
    return f"{head}\n    {rule.explanation}\n    fix: {rule.fix}"
