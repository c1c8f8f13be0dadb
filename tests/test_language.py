# SPDX-License-Identifier: BSD-2-Clause
"""Plain English: phrases that were replaced once and may not come back.

The list grows with what reviews find. It holds for every text of the project that a person reads.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXTS = (".c", ".h", ".S", ".cpp", ".py", ".md", ".sh", ".toml", ".def", "Makefile")
SKIPPED = ("tests/data/", "baselines/", "tests/test_language.py")

PHRASES = {
    r"\bseeds? 00\d|\bseed[-_]00\d": "the document's own name, as KBench or sel4bench",
    r"DESIGN\.md section \d|\bdesign \d": "DESIGN.md has no numbered sections",
    r"\bdearer\b": "more expensive, slower",
    r"before[ _]and[ _]behind": "before and after",
    r"\bstands? in (the|its)\b": "is in, is part of",
    r"inline function an instruction": "what the file holds; CSRs are accessed by macros",
    r"(?<![Tt]here )\b(is|are|was|were) no (?!longer|more|less|other|such)\w": "is not a ...",
    r"\b(can|could|cannot|not|is|be) (be )?told\b": "is known, is reported",
    r"\b(cycles|instructions|ticks|entries) a turn\b": "per turn",
    r"\b(runs|boots|images|bundles|layouts|more) a side\b": "per side",
    r"\ba line a \w+": "one line per ...",
    r"\bhas no use for\b": "does not apply to",
    r"\bcannot tell what it\b": "records no traces",
    r"\bmaker not told\b|is not told\b": "unknown",
    r"\btakes? for granted\b|take for granted": "assumes",
    r"\bnobody checks\b": "it is not checked",
    r"\bkeeps no trace\b": "holds no trace",
    r"\bhangs on (what|the)\b": "depends on",
    r"\bbe parted by\b|, parted by\b": "separated by",
    r"\bRaises [A-Za-z]+ where\b|\bNone where\b": "if",
    r"\btells? \S+ apart\b|\bnothing tells\b|\bnobody tells\b": "distinguishes",
    r"\btold (by|of each|one by one)\b|\bunless told\b": "reported by, unless set",
    r"\bone (estimate|latency|figure|number|row) a \w+": "one ... per ...",
    r"\blest\b": "so that ... not",
    r"\bway to (client|server|switch)\b|causes beyond issue": "before ...; stall causes",
    r"\bone turn's sd\b": "std. dev. per turn",
    r"\b(units|interval|three|once|profile|process|session) a side\b": "per side",
    r"\ba (bundle|boot|file|column|run) an? (layout|run|alert|thread|image)\b": "one ... per ...",
    r"\bparted (into|from)\b|\bcan part from\b": "divided into, separated from, differs from",
    r"\bthe Linux at hand\b|\banalysis of old\b": "the running Linux, the former analysis",
    r"\bgoes on where it\b|\bone a processor\b": "continues where it stopped, one per ...",
    r"\bcode of ours\b|\binstead of ours\b|\bin place of ours\b": "Cyclometer's",
    r"\b[Bb]efore against after\b|\bsets? \S+ side by side\b": "compares before with after",
    r"\bEnds? with [0-9] (if|where|at|although)\b": "exits with",
    r"\ba poor witness\b|\bto bury\b": "an unreliable estimate; to reap",
    r"\b(cycles|turns|boots|instructions) a second\b": "per second",
    r"\b(point|record|round trip) an? (turn|visit|size|instruction)\b": "one ... per ...",
    r"\bladder of conditions\b|\bWho (tells|draws)\?": "a series of conditions; name what decides",
}


def texts() -> Iterator[tuple[str, str]]:
    """Path and content of every text under version control."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("the sources are not a git checkout")
    for path in listed.stdout.splitlines():
        if path.endswith(TEXTS) and not path.startswith(SKIPPED) and (ROOT / path).exists():
            yield path, (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_replaced_phrase_does_not_come_back(phrase: str) -> None:
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(phrase, line)
    ]
    assert not found, f"write {PHRASES[phrase]}:\n" + "\n".join(found)
