# SPDX-License-Identifier: BSD-2-Clause
"""`make aa`: sessions of one machine against each other, of which nothing changed in between.

Measures a row of sessions alone, and one beside a neighbour that burns the other CPUs in bursts.
Then all pairs of single sessions are compared, and sessions three against three; and the pairs of
the later half once more, with what `doctor --calibrate` learns from the earlier half. Every row
called changed is a false one. Run it on a machine with nothing else to do:

    make aa                                        # 2 x 8 default sessions: half an hour
    make aa AA='--sessions 4 --budget 10s --only "pipe.*"'     # to try
    make aa AA='--cpus auto --only "*.other_cpu" --scenarios alone'   # between two CPUs
    make aa AA='--keep results/aa'   # keeps the bundles, and measures only what is missing
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cyclometer import environment, errors
from cyclometer.bundle import store
from cyclometer.compare import calibration
from cyclometer.compare.finding import CHANGED, Options
from cyclometer.compare.pairing import Side, side
from cyclometer.compare.verdicts import Comparison, compare, gate_code

TARGETS = {"alone": 0.005, "beside bursts": 0.02}
"""Share of rows that may be called changed."""
GATE_TARGET = 0.05
HALF_WIDTH_TARGETS = (0.003, 0.01)  # median and 90 % quantile over the circles of a session
BURST_S = (0.05, 2.0)  # shortest and longest burst and pause of the neighbour
SIDE = 3  # sessions per side in the second comparison


@dataclass
class Tally:
    """What comparisons of one kind said."""

    comparisons: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    gates: Counter[int] = field(default_factory=Counter)
    half_widths: list[float] = field(default_factory=list)  # of changes
    called: Counter[str] = field(default_factory=Counter)  # key -> times called changed

    def add(self, found: Comparison) -> None:
        self.comparisons += 1
        self.verdicts.update(f.verdict for f in found.findings)
        self.gates[gate_code(found)] += 1
        self.half_widths += [f.interval.half_width for f in found.findings if f.interval]
        self.called.update(f.key for f in found.findings if f.verdict in CHANGED)

    @property
    def judged(self) -> int:
        return sum(self.verdicts[v] for v in (*CHANGED, "equivalent", "undecided"))

    @property
    def changed(self) -> float:
        """The share of rows that were called changed."""
        return sum(self.verdicts[v] for v in CHANGED) / max(1, self.judged)

    def gates_that(self, code: int) -> float:
        """The share of gates that ended with this code."""
        return self.gates[code] / max(1, self.comparisons)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, compares and prints; 0 even if a target is missed: this reports, tests assert."""
    options = _options(arguments)
    facts = environment.collect()
    print(
        f"{facts.get('cpu_model', 'unknown CPU')}, {facts.get('cpu_count', '?')} CPUs, Linux "
        f"{facts.get('kernel_release', '?')}; {options.sessions} sessions of {options.budget} each"
    )
    with _folder(options.keep) as folder:
        for name in options.scenarios:
            _scenario(name, folder, options)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make aa", description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=8, help="in each scenario; 8")
    parser.add_argument(
        "--budget", default="80s", help="of a session, as `cyclometer run` takes it"
    )
    parser.add_argument("--only", action="append", default=[], help="circles, as in `run`")
    parser.add_argument("--cpus", help="with circles between two CPUs, as in `run`")
    parser.add_argument("--scenarios", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--triples", type=int, default=30, help="comparisons of three with three")
    parser.add_argument("--keep", type=Path, help="folder for the bundles; those there are used")
    options = parser.parse_args(arguments)
    if options.sessions < 2:
        parser.error("an A/A takes two sessions or more")
    return options


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _scenario(name: str, folder: Path, options: argparse.Namespace) -> None:
    paths = [folder / f"{name.replace(' ', '-')}-{n}" for n in range(options.sessions)]
    with _neighbour(name != "alone"):
        for path in paths:
            if not path.exists():
                _measure(path, options)
    bundles = [store.read(path) for path in paths]
    singles = [side([bundle]) for bundle in bundles]
    print(f"\n{name}")
    _print_sessions(singles)
    _print("single sessions", _pairs(singles), TARGETS[name], gates=name == "alone")
    earlier, later = singles[: len(singles) // 2], singles[len(singles) // 2 :]
    if known := _learned(earlier):
        found = _pairs(later, Options(calibration=known))
        _print("later half, calibrated", found, TARGETS[name], gates=name == "alone")
    by_three = Tally()
    for before, after in triples(len(bundles), options.triples):
        by_three.add(compare(*(side([bundles[n] for n in one]) for one in (before, after))))
    if by_three.comparisons:
        _print(f"{SIDE} against {SIDE}", by_three, TARGETS[name], gates=name == "alone")


def _learned(singles: Sequence[Side]) -> calibration.Calibration | None:
    """What `doctor --calibrate` learns; None if too few sessions were like each other."""
    try:
        return calibration.learn(singles)
    except errors.NothingMeasured as error:
        print(f"aa: {error}", file=sys.stderr)
        return None


def _pairs(singles: Sequence[Side], options: Options | None = None) -> Tally:
    """What `compare` says of all pairs."""
    found = Tally()
    for before, after in itertools.combinations(singles, 2):
        found.add(compare(before, after, options or Options()))
    return found


def _measure(path: Path, options: argparse.Namespace) -> None:
    command = [sys.executable, "-m", "cyclometer", "run", "--budget", options.budget]
    command += ["--cpus", options.cpus] if options.cpus else []
    for pattern in options.only:
        command += ["--only", pattern]
    started = time.monotonic()
    done = subprocess.run([*command, "-o", str(path)], capture_output=True, text=True, check=False)
    if done.returncode != errors.PASS:
        sys.exit(f"aa: a session ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    print(f"measured {path.name} in {time.monotonic() - started:.0f} s", file=sys.stderr)


@contextmanager
def _neighbour(wanted: bool) -> Iterator[None]:
    """A process that burns all CPUs but the measured one, in bursts, while the context lasts."""
    others = os.sched_getaffinity(0) - {max(os.sched_getaffinity(0))}
    if not wanted:
        yield
        return
    if not others:
        sys.exit("aa: a neighbour needs a second CPU; choose --scenarios alone")
    burners = [multiprocessing.Process(target=_burn, args=(cpu,), daemon=True) for cpu in others]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.join()


def _burn(cpu: int) -> None:
    """Works through more memory than caches hold, and sleeps, for lengths drawn log-uniformly."""
    os.sched_setaffinity(0, {cpu})
    rng, memory = random.Random(cpu), np.ones(4 << 20)
    low_s, high_s = BURST_S
    while True:
        for busy in (True, False):
            length_s = low_s * (high_s / low_s) ** rng.random()
            until_s = time.monotonic() + length_s
            while busy and time.monotonic() < until_s:
                memory *= 1.0000001
            if not busy:
                time.sleep(length_s)


def triples(count: int, most: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Disjoint sets of SIDE of `count` sessions, the one that begins first before the other; at
    most so many, chosen evenly.
    """
    everything = [
        (one, other)
        for one in itertools.combinations(range(count), SIDE)
        for other in itertools.combinations(sorted(set(range(count)) - set(one)), SIDE)
        if one < other
    ]
    step = max(1, -(-len(everything) // most))
    return everything[::step]


def _print_sessions(singles: Sequence[Side]) -> None:
    """How precise single sessions are by themselves."""
    medians, tails = [], []
    for one in singles:
        latencies = [c.estimate.latency for c in one.circles if c.estimate.valid]
        widths = [m.interval.half_width / m.value for m in latencies if m is not None]
        medians.append(float(np.median(widths)))
        tails.append(float(np.quantile(widths, 0.9)))
    median, tail = (100 * float(np.median(found)) for found in (medians, tails))
    wanted, wanted_tail = (100 * target for target in HALF_WIDTH_TARGETS)
    print(
        f"  half-width of a latency in a session: median circle {median:.2f} % (target "
        f"{wanted:.1f} %), 90 % of the circles within {tail:.2f} % (target {wanted_tail:.0f} %)"
    )


def _print(name: str, tally: Tally, target: float, gates: bool) -> None:
    each = ", ".join(f"{count} {verdict}" for verdict, count in sorted(tally.verdicts.items()))
    print(f"  {name}: {tally.comparisons} comparisons, {tally.judged} rows: {each}")
    print(
        f"    called changed           {100 * tally.changed:6.2f} %  (target {100 * target:.1f} %)"
        + "".join(f"; {key} {times} x" for key, times in tally.called.most_common(5))
    )
    wanted = f"(target {100 * GATE_TARGET:.0f} % together)" if gates else ""
    regressed, failed, undecided = (
        100 * tally.gates_that(code) for code in (errors.REGRESSED, errors.FAILED, errors.UNDECIDED)
    )
    print(
        f"    gate fails               {regressed:6.2f} %  by a verdict, {failed:.2f} % because a "
        f"circle could not be measured {wanted}; undecided {undecided:.0f} %"
    )
    share = tally.verdicts["equivalent"] / max(1, tally.judged)
    widths = 100 * np.quantile(tally.half_widths or [np.nan], (0.5, 0.9))
    print(f"    equivalent               {100 * share:6.2f} %")
    print(f"    half-width of a change   {widths[0]:6.2f} %  median, {widths[1]:.2f} % at 90 %")


if __name__ == "__main__":
    sys.exit(main())
