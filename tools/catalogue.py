# SPDX-License-Identifier: BSD-2-Clause
"""Writes docs/catalogue.md, the page of all circles, from what `cyclometer list --json` says."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from findings import ROOT

PAGE = "docs/catalogue.md"

HEAD = """# Catalogue of circles

Written by `make catalogue` from `cyclometer list --json`; edit the contracts, not this page.

*Expect* holds the exact counts of a turn that the contract check demands.
"""


def listed() -> dict[str, Any]:
    """What `cyclometer list --json` prints, of every target.

    Raises RuntimeError if it fails, or if this machine lacks what a target needs: a page made
    without that target's circles would look complete.
    """
    from cyclometer.cli.list import command

    result = CliRunner().invoke(command, ["--json"])
    if result.exit_code != 0:
        raise RuntimeError(f"`cyclometer list --json` failed: {result.output or result.exception}")
    answer: dict[str, Any] = json.loads(result.stdout)
    lacking = [target["missing"] for target in answer["targets"] if target["missing"]]
    if lacking:
        raise RuntimeError(f"the catalogue would lack circles: {lacking[0]}; run `make setup-all`")
    return answer


def render(listing: dict[str, Any]) -> str:
    """The page: a section for all targets of the same circles, a table an object, a line a
    circle.
    """
    about = {target["name"]: target["description"] for target in listing["targets"]}
    lines = [HEAD]
    for targets, rows in _sections(listing["circles"]).items():
        alone = " alone" if len(targets) == 1 else ""
        lines += [f"## {targets[0]}{alone}: {about[targets[0]]}", ""]
        lines += [
            *(f"The same on {name}: {about[name]}.\n" for name in targets[1:]),
            f"{len(rows)} circles.",
            "",
        ]
        for thing, same in itertools.groupby(rows, lambda circle: circle["key"].split(".")[0]):
            lines += [
                f"### {thing}",
                "",
                "| key | times | interval | expect | parameters |",
                "|---|---|---|---|---|",
            ]
            lines += [_row(circle["key"], circle["contract"]) for circle in same]
            lines += [""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _sections(
    circles: list[dict[str, Any]],
) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The targets that share circles -> the circles that these and no others have."""
    owners: dict[str, tuple[list[str], dict[str, Any]]] = {}
    for row in sorted(circles, key=lambda circle: (circle["target"], circle["key"])):
        said = json.dumps([row["key"], row["contract"]], sort_keys=True)
        owners.setdefault(said, ([], row))[0].append(row["target"])
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for targets, row in owners.values():
        found.setdefault(tuple(targets), []).append(row)
    return {
        targets: sorted(rows, key=lambda row: row["key"])
        for targets, rows in sorted(found.items(), key=lambda pair: (pair[0][0], -len(pair[0])))
    }


def _row(key: str, contract: dict[str, Any]) -> str:
    interval = contract["interval"]
    ends = f"{interval['kind'].replace('_', ' ')}: {interval['from']} to {interval['to']}"
    sequence = "; ".join(contract["sequence"])
    cells = [
        f"`{key}`",
        f"{contract['title']}<br>{sequence}",
        ends,
        _pairs(contract["expect"]),
        _pairs(contract["params"]),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _pairs(pairs: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs.items())


def main(root: Path = ROOT) -> None:
    (root / PAGE).write_text(render(listed()))


if __name__ == "__main__":
    main()
