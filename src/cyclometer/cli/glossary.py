# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer glossary`: the words of tables and pages, in the field's words."""

from __future__ import annotations

import rich_click as click

from cyclometer.cli.common import did_you_mean, print_json
from cyclometer.errors import UsageError

# word -> its meaning; words of the documentation first, then those of the tables
GLOSSARY = {
    "circle": "a benchmark: the complete repeating flow of user and kernel code under test.",
    "turn": "one iteration of a circle.",
    "test": "a timed batch: N turns between two clock readings.",
    "group": "the tests of one size, that is with the same N.",
    "flow": "a sweep: groups of growing size.",
    "pass": "one directly timed turn; the first passes follow an eviction of caches and TLB.",
    "visit": "the tests of one circle in one process, between visits of other circles.",
    "run": "one process start or one boot.",
    "session": "all visits of one measurement, in random order; the unit of comparison.",
    "contract": "what a circle times, and the exact event counts per turn that are checked.",
    "target": "where circles run: this Linux, an emulator, a simulated core.",
    "bundle": "the folder that one measurement stored, with every sample.",
    "exact clock": "one that repeats to the digit: instructions in QEMU, cycles of an RTL core.",
    "tick": "one step of a reference clock of constant rate; not a core cycle.",
    "latency": "the mean per turn over the visits, at the core's mean speed, with its interval.",
    "base": "the latency in the lowest regime that the machine sustained.",
    "overall": "the midmean over all tests that count.",
    "fixed c": "the cost of entering and leaving the timed interval, per test; subtracted.",
    "first pass": "the median of the first passes, with cold caches; overhead not subtracted.",
    "spread": "how far runs differ: the standard deviation between runs over the mean.",
    "excluded": "tests that an interrupt or another thread touched; counted, never used.",
    "equivalent": "the whole interval of the change lies within the margin.",
    "undecided": "the interval reaches beyond the margin and includes no change.",
    "changed": "an exact count is another one; its signed difference is printed, not judged.",
    "over margin": "an exact count grew by more than the --margin that was given.",
    "not settled": "on an exact clock, no count of some test size repeats.",
    "invalid": "the counters contradict the contract, so the figure is not of what it names.",
    "margin": "changes smaller than this count as equivalent; of counts only if it is given.",
    "false discovery rate": "the share of wrong ones among the rows called changed.",
    "layout floor": "the change that moving code alone causes on an exact clock.",
}


@click.command()
@click.argument("word", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the words as a JSON object.")
def command(word: str | None, as_json: bool) -> None:
    """Explain WORD, or without it every word of Cyclometer's tables.

    Example: cyclometer glossary turn
    """
    if word is not None and word.lower() not in GLOSSARY:
        hint = did_you_mean(word.lower(), GLOSSARY)
        raise UsageError(f"the glossary has no {word!r}{hint}; `cyclometer glossary` prints all")
    chosen = GLOSSARY if word is None else {word.lower(): GLOSSARY[word.lower()]}
    if as_json:
        from cyclometer.report.documents.listed import Glossary

        print_json(Glossary(chosen))
    else:
        click.echo("\n".join(f"{name:22} {meaning}" for name, meaning in chosen.items()))
