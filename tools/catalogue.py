# SPDX-License-Identifier: BSD-2-Clause
"""Writes docs/catalogue.md, which lists the families of circles, and a page for each, from what
`cyclometer list --json` says.
"""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from findings import ROOT

PAGE = "docs/catalogue.md"
FOLDER = "docs/catalogue"  # a page per family beside the page that lists them
KINDS = {
    "linux": "Circles of Linux",
    "kernel": "Circles of the reference kernel",
}
_WIDTH = 100

_MADE = "Written by `make catalogue` from the contracts of the circles; edit those, not this page."
_WORDS = "A circle is a benchmark, a turn one iteration. The counts of *expect* are checked."
HEAD = f"""# Catalogue of circles

{_MADE}

A circle is a benchmark; circles of one family time one thing. *Expect* holds the exact counts per
turn (iteration), which are checked. `cyclometer show --circle KEY` prints a circle's contract with
its figures.
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


def render(listing: dict[str, Any]) -> dict[str, str]:
    """Every page by its path: the list of families, and one of each family's circles."""
    # an image of the user's own says by itself what it times
    known = {row["target"] for row in listing["circles"]}
    having = [target for target in listing["targets"] if target["name"] in known]
    about = {target["name"]: target["description"] for target in having}
    pages, lines = {}, [HEAD]
    for kind, heading in KINDS.items():
        targets = [name for name in about if _kind(name) == kind]
        circles = _circles(row for row in listing["circles"] if row["target"] in targets)
        families = itertools.groupby(circles, lambda circle: circle[0].split(".")[0])
        named = {family: list(same) for family, same in families}
        if not named:
            continue
        lines += [f"## {heading}", "", *(f"- `{name}`: {about[name]}" for name in targets), ""]
        lines += [f"{len(circles)} circles.", "", "| family | circles |", "|---|---|"]
        for family, same in named.items():
            name = f"{kind}-{family}.md"
            lines.append(f"| [{family}](catalogue/{name}) | {len(same)} |")
            pages[f"{FOLDER}/{name}"] = _page(f"{heading}: {family}", same, len(targets))
        lines.append("")
    return {PAGE: _text(lines), **pages}


_Circle = tuple[str, dict[str, Any], list[str]]  # key, contract, targets


def _kind(target: str) -> str:
    return "linux" if target.endswith("linux") else "kernel"


def _circles(rows: Iterable[dict[str, Any]]) -> list[_Circle]:
    """Each contract once, with the targets that have it, in the order of the keys."""
    found: dict[str, _Circle] = {}
    for row in sorted(rows, key=lambda row: (row["key"], row["target"])):
        said = json.dumps([row["key"], row["contract"]], sort_keys=True)
        found.setdefault(said, (row["key"], row["contract"], []))[2].append(row["target"])
    return list(found.values())


def _page(heading: str, circles: Sequence[_Circle], targets: int) -> str:
    lines = [f"# {heading}", "", _MADE, "", _WORDS, "", "[All families](../catalogue.md)", ""]
    for key, contract, of_targets in circles:
        interval = contract["interval"]
        kind = interval["kind"].replace("_", " ")
        facts = {
            "turn": "; ".join(contract["sequence"]),
            "interval": f"{kind}, from {interval['from']} to {interval['to']}",
            "expect": _pairs(contract["expect"]),
            "parameters": _pairs(contract["params"]),
            "only on": ", ".join(of_targets) if len(of_targets) < targets else "",
        }
        lines += [f"## `{key}`", "", contract["title"], ""]
        lines += [_item(f"{name}: {fact}") for name, fact in facts.items() if fact] + [""]
    return _text(lines)


def _item(text: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _pairs(pairs: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs.items())


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def main(root: Path = ROOT) -> None:
    pages = render(listed())
    for old in (root / FOLDER).glob("*.md"):
        old.unlink()
    for name, text in pages.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


if __name__ == "__main__":
    main()
