# SPDX-License-Identifier: BSD-2-Clause
"""Everything about one circle, on a terminal: contract, estimates, runs, and a plot of the
samples.
"""

from __future__ import annotations

import click
import msgspec
import numpy as np
from numpy.typing import NDArray

from cyclometer.bundle.model import Bundle
from cyclometer.estimate import digits, extremes, hardware, kbench, planner, surroundings
from cyclometer.estimate.interval import critical_value
from cyclometer.estimate.marginal import MarginalFit
from cyclometer.estimate.rows import Estimate, estimates
from cyclometer.report import brief, table
from cyclometer.report.circle import chosen
from cyclometer.report.documents import kinds, measured, members
from cyclometer.report.terminal import Terminal

_ROWS, _COLUMNS = 12, 72
_SHADES = " ·:+*#@"
_WANTED = 0.005  # half-width that plans are made for, as a fraction of the latency
_HALF_WIDTH = f"±{100 * _WANTED:g} %"
# what a run spends on a circle beyond its tests: a process, its peers, and cold turns
_RUN_S = 0.01


def show(bundle: Bundle, key: str, as_json: bool) -> None:
    """Prints everything about the circle of this key or name. Raises UsageError if the bundle
    has none.
    """
    found = chosen(estimates(bundle), key)
    if as_json:
        click.echo(kinds.dumps(measured.CircleDetails([_row(bundle, e) for e in found])))
        return
    console = Terminal()
    for estimate in found:
        facts = (
            _contract(estimate),
            _counters(bundle, estimate),
            _surroundings(bundle, estimate),
            _idle_states(bundle, estimate),
            _latency(estimate),
            _extremes(bundle, estimate),
            _kbench(bundle, estimate),
            _runs(estimate),
        )
        for line in (*(line for part in facts for line in part), *_plan(bundle, estimate)):
            console.print(line, soft_wrap=True)
        for line in _plot(bundle, estimate):
            console.print(line, soft_wrap=True)


def _row(bundle: Bundle, e: Estimate) -> measured.DetailedRow:
    """What a line of the table says, and what only this page does."""
    fit, quantiles = e.fixed_cost, e.tails.supported if e.tails else ()
    return measured.DetailedRow(
        **msgspec.structs.asdict(table.row(e)),
        contract=e.contract,
        fixed_cost_interval=None if fit is None else members.ends(fit.c_interval),
        quantile_intervals={str(q.p): (q.interval.low, q.interval.high) for q in quantiles},
        modes=[measured.Mode(mode.position, mode.share) for mode in e.modes],
        clock_offset=e.clock_offset,
        idle_states=surroundings.idle_states(bundle.identity, e.contract.key),
        sigma_turn=e.sigma_turn,
        sigma_reason=e.sigma_reason,
        run_estimates=[
            measured.RunLatencies(
                r.run, r.latency.value, r.base.value, r.base.share, r.overall.value
            )
            for r in e.runs
        ],
    )


def _contract(e: Estimate) -> list[str]:
    c = e.contract
    configuration = ", ".join(f"{k}={v}" for k, v in sorted(e.configuration.items()))
    lines = [f"{c.key}: {c.title}", f"  configuration  {configuration}"]
    lines.append(f"  clock          {e.clock.name} in {e.clock.unit}")
    lines += [f"  {'sequence' if i == 0 else '':14} {event}" for i, event in enumerate(c.sequence)]
    lines.append(
        f"  interval       {c.interval.kind}: from [{c.interval.start}] to [{c.interval.stop}]"
    )
    lines.append(
        "  expected       " + ", ".join(f"{n} {count} per turn" for n, count in c.counts().items())
    )
    lines.append(
        "  parameters     " + (", ".join(f"{n}={v}" for n, v in c.params.items()) or "none")
    )
    lines.append(f"  correction     {c.correction}; method {e.method}")
    if c.source:
        lines.append(f"  source         {c.source}")
    verdict = "valid" if e.valid else f"NOT VALID: {e.reason}"
    unproven = f"; not counted here: {', '.join(e.unproven)}" if e.unproven else ""
    return [*lines, f"  contract       {verdict}{unproven}"]


def _counters(bundle: Bundle, e: Estimate) -> list[str]:
    """What the processor counted in the proof, if it shows its counters."""
    counted = hardware.per_turn(bundle, e.contract.key)
    counters = [f"{value:.4g} {name.replace('_', ' ')}" for name, value in counted.items()]
    ipc = hardware.instructions_per_cycle(counted)
    counters += [] if ipc is None else [f"IPC {ipc:.2f}"]
    lines = [f"  processor      {', '.join(counters)} per turn, in the proof"] if counters else []
    if not e.between_cpus:
        return lines
    both = hardware.per_turn(bundle, e.contract.key, hardware.BETWEEN_CPUS)
    parts = [f"{value:.3g} {name.replace('_', ' ')}" for name, value in both.items()]
    return lines + (
        [f"  on both CPUs   {', '.join(parts)} per turn, in the proof"] if parts else []
    )


def _surroundings(bundle: Bundle, e: Estimate) -> list[str]:
    """What happened beside its visits, if that was counted."""
    found = surroundings.rates(bundle.identity, e.contract.key)
    parts = [surroundings.in_words(name, float(rates.mean())) for name, rates in found.items()]
    return [f"  beside it      {', '.join(parts)}"] if parts else []


def _idle_states(bundle: Bundle, e: Estimate) -> list[str]:
    """Where the peers' CPU waited, by the kernel's names."""
    entered = surroundings.idle_states(bundle.identity, e.contract.key)
    if not entered:
        return []
    total = sum(entered.values())
    shares = [f"{name} {_percent(n / total)}" for name, n in entered.items() if n]
    none = f"none of {', '.join(entered)}; a kernel that halts without a driver counts none"
    listed = ", ".join(shares) or none
    return [f"  idle states    of the peers' CPU: {listed}"]


def _latency(e: Estimate) -> list[str]:
    if e.latency is None or e.overall is None:
        return []
    unit, ns = e.clock.unit, brief.nanoseconds(e)
    lines = [
        f"  latency        {table.with_interval(e.latency)} {unit}{f' = {ns} ns' if ns else ''} "
        f"({e.latency.scope})"
    ]
    if e.base is not None:
        lines.append(
            f"  base           {table.with_interval(e.base)} {unit}, lowest regime that lasts"
        )
    lines.append(f"  overall        {table.with_interval(e.overall)} {unit}, all tests that count")
    if e.clock_offset is not None:
        lines.append(
            f"  clock offset   at most {e.clock_offset:.4g} {unit} between the two CPUs, "
            f"{_percent(e.clock_offset / e.latency.value)} of the latency; all intervals hold it"
        )
    if e.fixed_cost is not None:
        lines.append(f"  fixed cost c   {_fixed_cost(e, e.fixed_cost)}")
    if e.cold is not None:
        lines.append(
            f"  first pass     {e.cold:.0f} {unit}, median of the first passes, overhead not "
            "subtracted"
        )
    if e.tails is not None:
        lines.append(f"  quantiles      {table.quantiles(e.tails)} of {e.tails.passes} passes")
        lines.append("  modes          " + (_modes(e) or "not sought: some turns took no time"))
    elif e.modes:
        lines.append(f"  modes          of tests: {_modes(e)}")
    sigma = "none, " + e.sigma_reason if e.sigma_turn is None else f"{e.sigma_turn:.3g} {unit}"
    lines.append(f"  sigma_P        {sigma}")
    lines.append(f"  steadiness     {_steadiness(e)}")
    lines.append(f"  tests          {e.tests} count; excluded: {table.set_aside(e) or 'none'}")
    return lines


def _extremes(bundle: Bundle, e: Estimate) -> list[str]:
    """The least and the most of single turns, with the moment of the most and what hit it."""
    found = extremes.extremes(bundle, e.contract.key)
    if found is None:
        return []
    ends = f"min {found.least:.6g}, max {found.most:.6g} {e.clock.unit}"
    if found.passes is None:
        return [f"  extremes       {ends}, as its tool printed them"]
    when = "" if found.at_s is None else f" at {found.at_s:.3f} s"
    hit = ", ".join(found.tags) or "undisturbed"
    return [
        f"  extremes       {ends} of {found.passes} single turns, excluded ones too; the largest "
        f"in run {found.run}{when}: {hit}"
    ]


def _fixed_cost(e: Estimate, fit: MarginalFit) -> str:
    """c, whether the line holds, and by how much A / N of the smallest test overstates a turn."""
    holds = fit.line_holds()
    bend = "bend not tested" if holds is None else "the line holds" if holds else _bend(fit)
    cost = f"{digits.with_interval(fit.c, fit.c_interval.half_width)} {e.clock.unit} per test"
    if e.flow is not None and e.flow.initial and fit.b:
        cost += (
            f", {_percent(fit.fixed_cost_share(e.flow.initial))} of the {e.flow.initial} "
            "turns of the smallest"
        )
    return f"{cost}; {bend}"


def _bend(fit: MarginalFit) -> str:
    assert fit.curvature is not None
    growing = "more expensive" if fit.curvature.quadratic > 0 else "cheaper"
    return f"the line does not hold, turns grow {growing} with their number"


def _percent(fraction: float) -> str:
    return digits.percent(fraction, 0.005)


def _modes(e: Estimate) -> str:
    """Where they lie, as finely as the density that shows them, and what share of the turns or
    tests each has.
    """
    places = (
        digits.rounded(mode.position, mode.smoothing * abs(mode.position)) for mode in e.modes
    )
    return ", ".join(
        f"{place} ({_percent(mode.share)})" for place, mode in zip(places, e.modes, strict=True)
    )


def _kbench(bundle: Bundle, e: Estimate) -> list[str]:
    """KBench's figures of the first run, one line per test size: what they assume, `sigma_P`
    above judges.
    """
    if e.method != "accumulated" or not e.runs:
        return []
    run = e.runs[0].run
    good = bundle.samples.tests(e.row, untagged=True)
    own = good[bundle.samples.run[good] == run]
    A, N = bundle.samples.value[own], bundle.samples.turns[own]
    sizes = (
        int(size)
        for size, tests in zip(*np.unique(N, return_counts=True), strict=True)
        if tests > 1
    )
    groups = [kbench.estimate(A[size == N], size) for size in sizes]
    return [f"  KBench, run {run:<3}{_group(group)}" for group in groups if group.mean_A]


def _group(g: kbench.KBenchEstimate) -> str:
    Y = (
        f"{digits.with_interval(g.mean_Y, g.interval.half_width)} "
        f"({_percent(g.relative_half_width)})"
    )
    wanted = f"{_HALF_WIDTH} takes {kbench.required_tests(g, _WANTED)} tests"
    return (
        f"N {g.turns}: A {g.mean_A:.0f}, cv {_percent(g.cv_A)}, S {g.tests}; Y {Y} at 90 %; "
        f"{wanted}"
    )


def _steadiness(e: Estimate) -> str:
    s = e.steady
    if s is None:
        return "not judged: " + e.sigma_reason
    warm_up = "no end found" if s.warm_up is None else f"over after {s.warm_up} {s.of}"
    effective = f"{s.effective_size:.0f} effective of {s.tests} {s.of}"
    return f"{s.shape}; warm-up {warm_up}; lag-1 correlation {s.lag_correlation:+.2f}; {effective}"


def _runs(e: Estimate) -> list[str]:
    lines = []
    for r in e.runs:
        latency, base = table.with_interval(r.latency), table.latency(r.base)
        share = f"{_percent(r.base.share)} of {r.overall.tests} tests"
        overall = table.latency(r.overall)
        lines.append(
            f"  run {r.run:<3}        latency {latency}, base {base} ({share}), overall {overall}"
        )
    return lines


def _plan(bundle: Bundle, e: Estimate) -> list[str]:
    """What it would take to know this latency to half a percent, if all stays as it was."""
    if e.latency is None or e.latency.between_variance is None or e.clock.exact or not e.clock.hz:
        return []
    interval, runs, tests = e.latency.interval, e.latency.runs, e.tests / e.latency.runs
    # All that the interval holds beyond the spread between runs is for tests to mend, the error of
    # the fixed cost, too.
    of_run = runs * (interval.half_width / critical_value(interval.level, runs - 1)) ** 2
    within = max(0.0, of_run - e.latency.between_variance) * tests
    spread = planner.Spread(
        e.latency.between_variance, within, _RUN_S, _test_units(bundle, e) / e.clock.hz, runs
    )
    plan = planner.for_half_width(spread, _WANTED * e.latency.value)
    if plan is None:
        return [
            f"  plan           {_HALF_WIDTH} is out of reach: runs differ by "
            f"{_percent(e.latency.spread)}"
        ]
    each = f"{plan.tests} test{'s' if plan.tests > 1 else ''}"
    about_s = digits.rounded(plan.seconds, 0.3 * plan.seconds)
    return [f"  plan           {_HALF_WIDTH} takes {plan.runs} runs of {each}, {about_s} s"]


def _test_units(bundle: Bundle, e: Estimate) -> float:
    """Clock units from one test to the next, counters and all; a test's own if its arrival is
    unknown.
    """
    rows = bundle.samples.tests(e.row)
    steps = np.diff(bundle.samples.at[rows])
    return float(np.median(steps[steps > 0] if np.any(steps > 0) else bundle.samples.value[rows]))


def _plot(bundle: Bundle, e: Estimate) -> list[str]:
    """Latency of a turn over arrival, every run after another; shade says how many tests fall in a
    cell.
    """
    rows = bundle.samples.tests(e.row)
    if len(rows) < 2:
        return []
    # the range is that of the tests that count; excluded ones are drawn at its edge
    good = bundle.samples.tags[rows] == 0
    Y = bundle.samples.value[rows] / bundle.samples.turns[rows]
    low, high = _range(Y[good] if good.any() else Y)
    order = np.argsort(bundle.samples.run[rows], kind="stable")
    Y = Y[order]
    cells, _, _ = np.histogram2d(
        np.clip((high - Y) / (high - low) * _ROWS, 0, _ROWS - 1e-9),
        np.arange(len(Y)),
        bins=(_ROWS, min(_COLUMNS, len(Y))),
        range=((0, _ROWS), (0, len(Y))),
    )
    unit = f"{e.clock.unit} per turn, 1 % to 99 % of the tests, in order of runs and arrival"
    ends = {0: f"{high:.0f}", _ROWS - 1: f"{low:.0f}"}
    return [
        "",
        f"  {unit}",
        *(f"{ends.get(i, ''):>12} |{_shade(row, cells.max())}" for i, row in enumerate(cells)),
    ]


def _range(Y: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(Y, (0.01, 0.99))
    margin = max(0.05 * (high - low), 0.001 * abs(high), 1e-9)
    return float(low - margin), float(high + margin)


def _shade(row: NDArray[np.float64], most: float) -> str:
    steps = np.ceil(row / most * (len(_SHADES) - 1)).astype(int)
    return "".join(_SHADES[step] for step in steps).rstrip()
