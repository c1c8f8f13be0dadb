# SPDX-License-Identifier: BSD-2-Clause
"""The Linux this program runs on, as a target."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Clock, Contract, Problem
from cyclometer.doctor.checks import examine
from cyclometer.doctor.observe import observe
from cyclometer.errors import UsageError
from cyclometer.record.profile import Profile
from cyclometer.record.schema import Circle, Hello
from cyclometer.targets import build
from cyclometer.targets.api import SILENT, MeasurementResult, Progress, Request
from cyclometer.targets.linux import harness, inherited, paired, placement, profile
from cyclometer.targets.linux.added import added, described, learned
from cyclometer.targets.linux.harness import PLAIN, Launch
from cyclometer.targets.linux.inherited import VARIABLES
from cyclometer.targets.linux.measurement import (
    LatencyAbove,
    Measurement,
    MeasurementSettings,
    own_method,
)
from cyclometer.targets.linux.paired import Variant
from cyclometer.targets.linux.placement import AUTO, CpuPair, UsableCpus
from cyclometer.targets.linux.plan import choose

_OPTIONS = frozenset(
    (
        "only",
        "runs",
        "quick",
        "method",
        "budget_s",
        "spread_s",
        "cpu",
        "cpus",
        "clock",
        "seed",
        "watchdog_s",
        "flow",
    )
) | {"circles", "exec", "policy", "nice", "slice_s", "break_on_s"}
_QUICK = MeasurementSettings(runs=3, rounds=1, budget_s=12.0)
_SPREAD_ROUNDS = 7  # with pauses between them


class LinuxTarget:
    """`cyclometer run` on this machine."""

    name = "linux"
    description = "the Linux this command runs on, by its own clock"
    options = _OPTIONS
    concurrent = False
    exact = False
    programs = frozenset(("cc",))

    def build(self, progress: Progress = SILENT) -> list[Path]:
        """Compiles the harness if needed; the files made."""
        progress.visits(0, 1, "the harness")
        return [program_for([PLAIN])]

    def missing(self) -> str:
        """What this machine lacks for the target; the harness says the rest itself."""
        return "" if os.uname().sysname == "Linux" else "target linux runs on Linux only"

    def circles(self, config: dict[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        """The clock and all contracts of the harness; a Linux has no `config` to choose."""
        Request(config=config or {}).refuse_others(self.name, self.options)
        settings = MeasurementSettings(
            cpu=max(os.sched_getaffinity(0)), policy="any", pair=CpuPair(None, "")
        )
        return circles_of(settings, program_for([PLAIN]))

    def measure(
        self, request: Request, environment: dict[str, Any], progress: Progress
    ) -> MeasurementResult:
        """Measures; Ctrl-C ends it early and keeps what there is."""
        request.refuse_others(self.name, self.options)
        settings = settings_of(request, AUTO)
        ours = added(request.circles, request.exec)
        program = program_for([PLAIN], ours.files)
        known = learned(program, ours.programs, settings.options(), settings.watchdog_s)
        with described(known) as options:
            clock, contracts = circles_of(settings, program, PLAIN, options)
            wanted = choose(
                contracts, ours.chosen(settings.only, contracts), request.cpus is not None
            )
            settings = without_idle_pair(settings, wanted)
            _refuse_unwatched(settings, wanted)
            assembler = Assembler(self.name, environment | inherited.collect())
            return _measured(
                Measurement(
                    settings,
                    clock,
                    wanted,
                    progress,
                    assembler,
                    program,
                    options=[*rate_option(clock), *options],
                )
            )

    def profile(self, request: Request, key: str, seconds: float) -> Profile:
        """Samples one circle alone over about `seconds` of timed tests; errors as
        `profile.profile`.
        """
        request.refuse_others(self.name, self.options)
        settings = settings_of(request, AUTO)
        before = os.sched_getaffinity(0)
        _leave_cpus(settings)
        try:
            return profile.profile(settings, program_for([PLAIN]), key, seconds)
        finally:
            os.sched_setaffinity(0, before)

    def measure_pair(
        self,
        request: Request,
        variants: Sequence[Variant],
        switch: Callable[[int], None],
        collect: Callable[[], dict[str, Any]],
        progress: Progress,
    ) -> list[MeasurementResult]:
        """Measures two variants in one session, visit by visit; a result each, in their order.

        `collect` says what the environment is, after `switch` has made it that of a side.
        """
        together = f"{time.time_ns():x}"
        # A harness of the user's is linked as a compiler does it by itself, and so is ours then; it
        # may be older, and know no pairs of CPUs.
        theirs = any(variant.program for variant in variants)
        settings = settings_of(request, None if theirs else AUTO)
        ours = build.harness() if theirs else program_for([v.launch for v in variants])
        halves = []
        for side, variant in enumerate(variants):
            switch(side)
            program = variant.program or ours
            clock, contracts = circles_of(settings, program, variant.launch)
            facts = collect() | inherited.collect() | {"ab": variant.facts}
            assembler = Assembler(self.name, facts)
            assembler.problems += _cautions(settings)
            assembler.plan["ab"] = {"id": together, "side": paired.SIDES[side]}
            wanted = choose(contracts, settings.only, request.cpus is not None)
            halves.append(
                Measurement(
                    without_idle_pair(settings, wanted),
                    clock,
                    wanted,
                    progress,
                    assembler,
                    program,
                    variant.launch,
                    # one of the user's may be older, and not know the option
                    [] if variant.program else rate_option(clock),
                )
            )
        before = os.sched_getaffinity(0)
        _leave_cpus(halves[0].settings)
        both, interrupted = paired.Paired(halves, switch), False
        try:
            both.run()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            both.close()
            os.sched_setaffinity(0, before)
        return [half.result(interrupted) for half in halves]


def _measured(measurement: Measurement) -> MeasurementResult:
    """Runs a measurement of this machine, off the CPUs that it measures."""
    settings = measurement.settings
    before = os.sched_getaffinity(0)
    _leave_cpus(settings)
    measurement.assembler.problems += _cautions(settings)
    try:
        return measured(measurement)
    finally:
        os.sched_setaffinity(0, before)  # a second measurement starts like the first


def measured(measurement: Measurement) -> MeasurementResult:
    """Runs a measurement; an interrupt ends it early and keeps what there is."""
    interrupted, above = False, ""
    try:
        measurement.run()
    except LatencyAbove as found:
        above = str(found)
    except KeyboardInterrupt:
        interrupted = True
        what = "the measurement was interrupted; what it had is kept"
        measurement.assembler.problems.append(Problem(what))
    finally:
        measurement.close()
    return measurement.result(interrupted, above)


def _refuse_unwatched(settings: MeasurementSettings, wanted: Sequence[Contract]) -> None:
    """UsageError if no circle has a latency to break on."""
    one_way = any(own_method(contract) == "direct" for contract in wanted)
    watched = one_way and settings.method in (None, "direct")
    if settings.break_on_ns is not None and not watched:
        raise UsageError(
            "--break-on watches single passes of one-way circles; choose some by --only 'timer.*' "
            "or --only 'notification.*one_way*', and leave --method out"
        )


# findings that bear on every latency of the run
_TOLD = ("RT throttling", "steal", "other load", "SCHED_FIFO")


def _cautions(settings: MeasurementSettings) -> list[Problem]:
    """What is amiss with the measured CPUs, one sentence each, so that it stands beside the
    figures.
    """
    found = [
        f for cpu in _measured_cpus(settings) for f in examine(observe(cpu)) if f.name in _TOLD
    ]
    names = {f.found: f.name for f in found if f.state in ("warn", "bad")}  # some of all CPUs alike
    cautions = [
        Problem(f"{what}; `cyclometer doctor` says what it costs", name, "environment")
        for what, name in names.items()
    ]
    if os.cpu_count() == 1:
        what = (
            "this machine has one CPU, so the supervisor shares it with the circles; "
            "measure where there are two"
        )
        cautions.append(Problem(what, "too few CPUs", "environment"))
    return cautions


def settings_of(
    request: Request, kind: str | None = None, cpus: UsableCpus | None = None
) -> MeasurementSettings:
    """How to measure what is asked for, on these CPUs or those of this process. `kind`: of the pair
    of CPUs, where the request names none; None: no such pair.
    """
    base = _QUICK if request.quick else MeasurementSettings()
    budget_s, spread_s = request.budget_s or base.budget_s, request.spread_s or 0.0
    if spread_s and request.flow is not None:
        raise UsageError("--spread needs several rounds of visits; leave --kbench out")
    if spread_s and spread_s <= budget_s:
        raise UsageError(
            f"--spread {spread_s:g}s is no longer than the {budget_s:g} s of measuring; name a "
            "longer time, or a smaller --budget"
        )
    if spread_s:
        base = replace(base, rounds=_SPREAD_ROUNDS)
    cpu, pair = _cpus(request, kind, cpus or UsableCpus(frozenset(os.sched_getaffinity(0))))
    return MeasurementSettings(
        runs=request.runs or base.runs,
        rounds=base.rounds if request.flow is None else 1,
        flow=request.flow,
        budget_s=budget_s,
        spread_s=spread_s,
        only=request.only,
        method=request.method,
        cpu=cpu,
        pair=pair,
        clock=request.clock or base.clock,
        seed=time.time_ns() % 2**31 if request.seed is None else request.seed,
        watchdog_s=request.watchdog_s or base.watchdog_s,
        policy=request.policy or base.policy,
        nice=request.nice,
        slice_ns=None if request.slice_s is None else round(request.slice_s * 1e9),
        break_on_ns=None if request.break_on_s is None else round(request.break_on_s * 1e9),
    )


def _cpus(request: Request, kind: str | None, cpus: UsableCpus) -> tuple[int, CpuPair | None]:
    """The client's CPU, and that of peers elsewhere."""
    cpu = max(cpus.allowed) if request.cpu is None else request.cpu
    asked = placement.parse(request.cpus) if request.cpus is not None else kind
    if asked is None:
        return cpu, None
    if isinstance(asked, str):
        return cpu, placement.pair(cpu, asked, cpus.allowed, cpus.root)
    if request.cpu not in (None, asked[0]):
        raise UsageError("--cpus names the client's CPU first; leave --cpu out")
    if missing := [str(one) for one in asked if one not in cpus.allowed]:
        raise UsageError(f"--cpus: this process may not use CPU {', '.join(missing)}")
    return asked[0], CpuPair(asked[1], placement.apart(*asked, cpus.root))


def _measured_cpus(settings: MeasurementSettings) -> list[int]:
    other = None if settings.pair is None else settings.pair.other
    return [settings.cpu] + ([] if other is None else [other])


def without_idle_pair(
    settings: MeasurementSettings, wanted: Sequence[Contract]
) -> MeasurementSettings:
    """A run without circles of two CPUs leaves the second one alone."""
    needed = any(placement.PARAMETER in contract.params for contract in wanted)
    return settings if needed else replace(settings, pair=None)


def program_for(launches: Iterable[Launch], circles: Sequence[Path] = ()) -> Path:
    """The harness to be started in each of these ways, with the circles of these files.

    A static one takes half the time to start, which every visit does. It has no dynamic linker, and
    carries its own C library: so it is not for an environment that speaks to one of them, not for
    a wrapper, which may bring another library, and not for code that we do not know.
    """
    static = not circles and not any(
        launch.wrapper or any(map(VARIABLES.fullmatch, launch.everything())) for launch in launches
    )
    return build.harness(circles=circles, static=static)


def rate_option(clock: Clock) -> list[str]:
    """The option of the harness that says the clock's rate, so that no run need find it anew."""
    return ["--hz", str(round(clock.hz))] if clock.hz > 0 else []


def circles_of(
    settings: MeasurementSettings,
    program: Path,
    launch: Launch = PLAIN,
    options: Sequence[str] = (),
) -> tuple[Clock, list[Contract]]:
    records = harness.list_circles(program, [*settings.options(), *options], launch)
    clock = next(record.clock for record in records if isinstance(record, Hello))
    return clock, [record.contract for record in records if isinstance(record, Circle)]


def _leave_cpus(settings: MeasurementSettings) -> None:
    """Keeps this process, and the supervisors it starts, off the measured CPUs as far as there are
    others.
    """
    for cpu in _measured_cpus(settings):
        if others := os.sched_getaffinity(0) - {cpu}:
            os.sched_setaffinity(0, others)
