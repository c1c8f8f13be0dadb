# SPDX-License-Identifier: BSD-2-Clause
"""`make planted`: slow-downs of known size, and how many of them are found.

Links of a chain of instructions are planted in each turn of every circle above 500 cycles: in one
side of a live comparison by `cyclometer ab`, and, exactly so many cycles, in the tests of sessions
that `make aa` kept, three of which are compared with three others.

    make planted                                         # live: a minute and a half
    make aa AA='--keep results/aa' && make planted PLANTED='--sessions results/aa'
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aa import triples
from cyclometer import errors
from cyclometer.bundle import store
from cyclometer.bundle.model import Bundle
from cyclometer.compare.finding import Options
from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import compare
from cyclometer.estimate.rows import estimates
from cyclometer.targets import build

LIVE, STORED = 0.01, 0.03  # fractions by which circles become slower
TARGET = 0.8  # of them are to be found
FEWEST_CYC = 500.0
TABLE = "CYCLOMETER_PLANTED"
ENDED = (errors.PASS, errors.REGRESSED, errors.UNDECIDED, errors.FAILED)


@dataclass
class Found:
    """Verdicts on rows in which a slow-down was planted, as many as `planted`."""

    planted: int = 0
    regressed: int = 0
    missed: tuple[str, ...] = ()

    def add(self, verdicts: Iterable[tuple[str, str]]) -> None:
        """Of keys and what was said of them."""
        judged = list(verdicts)
        self.planted += len(judged)
        self.regressed += sum(verdict == "regressed" for _, verdict in judged)
        self.missed += tuple(key for key, verdict in judged if verdict != "regressed")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures or reads, and prints; 0 even if too few are found: this reports, tests assert."""
    options = _options(arguments)
    if options.sessions is None:
        with tempfile.TemporaryDirectory() as folder:
            live(Path(folder), options.budget, options.only)
    else:
        stored(options.sessions, options.triples)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make planted", description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", default="60s", help="of `cyclometer ab`")
    parser.add_argument("--only", action="append", default=[], help="circles, as in `ab`")
    parser.add_argument("--sessions", type=Path, help="a folder of bundles, in place of `ab`")
    parser.add_argument("--triples", type=int, default=30, help="comparisons of three with three")
    return parser.parse_args(arguments)


def live(folder: Path, budget: str, only: Sequence[str]) -> None:
    """One comparison by `ab`: both sides run one harness, and a table makes one of them slower."""
    chosen = [word for pattern in only for word in ("--only", pattern)]
    plain = folder / "plain"
    _cyclometer("run", "--budget", "20s", "--allow-invalid", "-o", str(plain), *chosen)
    wanted = planted_cycles(store.read(plain), LIVE)
    table = folder / "table"
    table.write_text("".join(f"{key} {1000 * cyc:.0f}\n" for key, cyc in wanted.items()))
    program = harness()
    sides = [f"--harness-{side}={program}" for side in ("before", "after")]
    # what is planted lies above the margin, or no verdict could name it
    compared = _cyclometer(
        *("ab", *sides, "--env-after", f"{TABLE}={table}", "--margin", f"{100 * LIVE / 2:g}%"),
        *("--budget", budget, "--json", "-o", str(folder / "ab"), *chosen),
    )
    found = Found()
    found.add((row["key"], row["verdict"]) for row in compared["rows"] if row["key"] in wanted)
    report(f"{100 * LIVE:.0f} % by ab in {budget}", found)


def harness() -> Path:
    """The Linux harness with what plants slow-downs."""
    ours = Path(__file__).with_name("planted.c")
    return build.harness(extra_flags=("-Wl,--wrap=registry_find",), circles=[ours])


def planted_cycles(bundle: Bundle, fraction: float) -> dict[str, float]:
    """Cycles a turn that make each circle slower by a fraction, for circles whose turns are timed
    together and take FEWEST_CYC or more. Not floors: a floor that moves is another machine.
    """
    return {
        one.contract.key: fraction * one.latency.value
        for one in estimates(bundle, course=False)
        if one.method == "accumulated" and one.valid and one.latency and one.clock.unit == "cycles"
        if one.latency.value >= FEWEST_CYC and not one.contract.key.startswith("floor.")
    }


def slower(bundle: Bundle, cycles: dict[str, float]) -> Bundle:
    """The bundle, whose values are core cycles, with so many more in each turn of the circles."""
    samples, rows = bundle.samples, bundle.identity.rows
    value = samples.value.copy()
    for index, row in enumerate(rows):
        if row.contract.key in cycles and row.method == "accumulated":
            tests = samples.tests(index)
            value[tests] += samples.turns[tests] * cycles[row.contract.key]
    return replace(bundle, samples=replace(samples, value=value))


def stored(folder: Path, most: int) -> None:
    """Three sessions against three others of a folder, in which cycles are planted."""
    bundles = [store.read(path.parent) for path in sorted(folder.glob("*/bundle.json"))]
    found, options = Found(), Options(margin=STORED / 2)
    wanted = planted_cycles(bundles[0], STORED) if bundles else {}
    for before, after in triples(len(bundles), most):
        sides = (
            side([bundles[n] for n in before]),
            side([slower(bundles[n], wanted) for n in after]),
        )
        findings = compare(*sides, options).findings
        found.add((f.key, f.verdict) for f in findings if f.key in wanted)
    report(f"{100 * STORED:.0f} % by three sessions against three", found)


def report(name: str, found: Found) -> None:
    if not found.planted:
        sys.exit("planted: nothing to plant in: no circle above 500 core cycles, or fewer sessions")
    share = 100 * found.regressed / found.planted
    print(
        f"{name}: {found.regressed} of {found.planted} planted slow-downs found, {share:.0f} % "
        f"(target {100 * TARGET:.0f} %)"
    )
    if found.missed:
        print(f"  missed: {', '.join(dict.fromkeys(found.missed))}")


def _cyclometer(*arguments: str) -> dict[str, Any]:
    """What a command prints as JSON; {} if it prints none."""
    command = [sys.executable, "-m", "cyclometer", *arguments]
    plain = {name: value for name, value in os.environ.items() if name != TABLE}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    if done.returncode not in ENDED:
        sys.exit(f"planted: {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout) if "--json" in arguments else {}
    return answer


if __name__ == "__main__":
    sys.exit(main())
