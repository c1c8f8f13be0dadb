# SPDX-License-Identifier: BSD-2-Clause
"""Everything about one circle, on a terminal: contract, estimates, runs, and a plot of the samples."""

from __future__ import annotations

import json

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from cyclometer.bundle.model import Bundle
from cyclometer.estimate import digits, planner
from cyclometer.estimate.rows import Estimate, estimates, picked
from cyclometer.report import table
from cyclometer.report.circle import chosen

_ROWS, _COLUMNS = 12, 72
_SHADES = " ·:+*#@"
_WANTED = 0.005  # half-width the plan is made for, as a fraction of the latency


def show(bundle: Bundle, key: str, as_json: bool) -> None:
    """Prints everything about the circle of this key or name. Raises UsageError where the bundle has none."""
    found = chosen(estimates(bundle), key)
    if as_json:
        click.echo(json.dumps([table.row_json(e) for e in found], indent=1))
        return
    console = Console(highlight=False)
    for estimate in found:
        for line in (*_contract(estimate), *_latency(estimate), *_runs(estimate), *_plan(bundle, estimate)):
            console.print(line, soft_wrap=True, markup=False)
        for line in _plot(bundle, estimate):
            console.print(line, soft_wrap=True, markup=False)


def _contract(e: Estimate) -> list[str]:
    c = e.contract
    configuration = ", ".join(f"{k}={v}" for k, v in sorted(e.configuration.items()))
    lines = [f"{c.key}: {c.title}", f"  configuration  {configuration}"]
    lines.append(f"  clock          {e.clock.name} in {e.clock.unit}")
    lines += [f"  {'sequence' if i == 0 else '':14} {event}" for i, event in enumerate(c.sequence)]
    lines.append(f"  interval       {c.interval.kind}: from [{c.interval.start}] to [{c.interval.stop}]")
    lines.append("  expected       " + ", ".join(f"{n} {count} a turn" for n, count in c.expect.items()))
    lines.append("  parameters     " + (", ".join(f"{n}={v}" for n, v in c.params.items()) or "none"))
    lines.append(f"  correction     {c.correction}; method {e.method}")
    verdict = "valid" if e.valid else f"NOT VALID: {e.reason}"
    unproven = f"; not counted here: {', '.join(e.unproven)}" if e.unproven else ""
    return [*lines, f"  contract       {verdict}{unproven}"]


def _latency(e: Estimate) -> list[str]:
    if e.quiet is None or e.typical is None:
        return []
    unit, ns = e.clock.unit, table.nanoseconds(e)
    lines = [f"  quiet          {table.with_interval(e.quiet)} {unit}{f' = {ns} ns' if ns else ''} ({e.quiet.scope})"]
    lines.append(f"  typical        {table.with_interval(e.typical)} {unit}")
    if e.fixed_cost is not None:
        bend = {True: "the line holds", False: "the line does not hold", None: "bend not tested"}
        lines.append(f"  fixed cost c   {table.fixed_cost(e)} {unit} a test; {bend[e.fixed_cost.line_holds()]}")
    if e.cold is not None:
        lines.append(f"  cold pass      {e.cold:.0f} {unit}, median of the first passes, overhead not subtracted")
    if e.tails is not None:
        lines.append(f"  quantiles      {table.quantiles(e.tails)} of {e.tails.passes} passes")
    sigma = "none, " + e.sigma_reason if e.sigma_turn is None else f"{e.sigma_turn:.3g} {unit}"
    lines.append(f"  sigma_P        {sigma}")
    lines.append(f"  steadiness     {_steadiness(e)}")
    lines.append(f"  tests          {e.tests} count; set aside: {table.set_aside(e) or 'none'}")
    return lines


def _steadiness(e: Estimate) -> str:
    s = e.steady
    if s is None:
        return "not judged: " + e.sigma_reason
    warm_up = "no end found" if s.warm_up is None else f"over after {s.warm_up} tests"
    effective = f"{s.effective_size:.0f} effective of {s.tests} tests"
    return f"{s.shape}; warm-up {warm_up}; lag-1 correlation {s.lag_correlation:+.2f}; {effective}"


def _runs(e: Estimate) -> list[str]:
    lines = []
    for r in e.runs:
        quiet, typical = table.with_interval(r.quiet), table.latency(r.typical)
        share = f"{digits.percent(r.quiet.share, 0.005)} of {r.typical.tests} tests"
        lines.append(f"  run {r.run:<3}        quiet {quiet} ({share}), typical {typical}")
    return lines


def _plan(bundle: Bundle, e: Estimate) -> list[str]:
    """What it would take to know this latency to half a percent, from the variances seen."""
    if e.quiet is None or e.quiet.between_variance is None or e.quiet.within_variance is None or not e.clock.hz:
        return []
    tests = e.tests / len(e.runs)
    good = picked(bundle.samples, e.row, untagged=True)
    test_s = float(np.median(bundle.samples.value[good])) / e.clock.hz
    spread = planner.Spread(e.quiet.between_variance, e.quiet.within_variance * tests, 0.01, test_s + 35e-6)
    plan = planner.for_half_width(spread, _WANTED * e.quiet.value)
    if plan is None:
        differ = digits.percent(e.quiet.spread, 0.005)
        return [f"  plan           half a percent is out of reach: runs differ by {differ}"]
    return [f"  plan           ±0.5 % takes {plan.runs} runs of {plan.tests} tests, {plan.seconds:.1f} s"]


def _plot(bundle: Bundle, e: Estimate) -> list[str]:
    """Latency of a turn over arrival, every run after another; shade says how many tests fall in a cell."""
    rows = picked(bundle.samples, e.row)
    if len(rows) < 2:
        return []
    good = bundle.samples.tags[rows] == 0
    Y = bundle.samples.value[rows] / bundle.samples.turns[rows]
    low, high = _range(Y[good] if good.any() else Y)
    order = np.argsort(bundle.samples.run[rows], kind="stable")
    Y = Y[order]
    cells, _, _ = np.histogram2d(
        np.clip((high - Y) / (high - low) * _ROWS, 0, _ROWS - 1e-9), np.arange(len(Y)),
        bins=(_ROWS, min(_COLUMNS, len(Y))), range=((0, _ROWS), (0, len(Y))),
    )  # fmt: skip
    unit = f"{e.clock.unit} a turn, 1 % to 99 % of the tests, in order of runs and arrival"
    ends = {0: f"{high:.0f}", _ROWS - 1: f"{low:.0f}"}
    return ["", f"  {unit}", *(f"{ends.get(i, ''):>12} |{_shade(row, cells.max())}" for i, row in enumerate(cells))]


def _range(Y: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(Y, (0.01, 0.99))
    margin = max(0.05 * (high - low), 0.001 * abs(high), 1e-9)
    return float(low - margin), float(high + margin)


def _shade(row: NDArray[np.float64], most: float) -> str:
    steps = np.ceil(row / most * (len(_SHADES) - 1)).astype(int)
    return "".join(_SHADES[step] for step in steps).rstrip()
