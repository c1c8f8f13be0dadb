# SPDX-License-Identifier: BSD-2-Clause
"""The JSONL history of sel4bench results: a line per run, a metric per key.

A metric is [min, q1, median, mean, q3, max, stddev, n]; since mid-2026 it is a list of these, one
per iteration of the suite. Where early processing kept sums only, the format puts zeros for the
rest: these are not taken for figures.
"""

from __future__ import annotations

import re
from typing import Any

from cyclometer.bundle.model import Summary
from cyclometer.errors import BadFile
from cyclometer.ingest.formats.sel4 import sel4_keys
from cyclometer.ingest.formats.sel4.sel4bench import board_clock, file_configuration
from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, whole
from cyclometer.ingest.reading import MAX_JSON_BYTES, Foreign, json_value

NAME = "sel4bench-history"
DESCRIPTION = (
    "history of sel4bench results: one JSON object a line, a list of eight figures a metric"
)

_IDENTITY = {"sha_kernel": "kernel", "sha_bench": "sel4bench", "sha": "manifest"}
_ABOUT = ("ts", "run_id", *_IDENTITY)
_NAMES = {
    "notify_process": ("Signal to process of higher prio", "1"),
    "notify_thread": ("Signal to thread of higher prio", "1"),
    "notify_high_thread": ("Signal to high prio thread", ""),
    "notify_low_thread": ("Signal to low prio thread", ""),
    "irq_noswitch": ("Without context switch", ""),
    "irq_switch": ("With context switch", ""),
    "thread_yield": ("Thread yield", ""),
    "process_yield": ("Process yield", ""),
    "producer_to_consumer": ("Producer to consumer", ""),
    "consumer_to_producer": ("Consumer to producer", ""),
    "fault_round_trip": ("fault round trip", ""),
    "fault_to_handler": ("faulter -> fault handler", ""),
    "fault_from_handler": ("fault handler -> faulter", ""),
    "null_syscall": ("Hardware null_syscall thread", ""),
    "nop_syscall": ("Nop syscall overhead", ""),
    "signal_overhead": ("Signal overhead", ""),
}
_IPC = re.compile(r"ipc_(call|reply|send)(_fpu)?(_intra)?(?:_len(\d{1,4}))?")
_PAGES = re.compile(r"(map|protect|unprotect)_(\d{1,9})")
_SMP = re.compile(r"smp_(\d{1,4})core_c(\d{1,9})")
_PHASES = {
    "map": "Mapping",
    "protect": "Protect Pages as Read Only",
    "unprotect": "Unprotect Pages",
}
_FUNCTIONS = {"call": "seL4_Call", "reply": "seL4_ReplyRecv", "send": "seL4_Send"}


def detect(head: bytes, _filename: str) -> int:
    if b'"sha_kernel"' in head and b'"sha_bench"' in head:
        return 95
    return 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """Every line is a run. The shas are in the configuration, so that only runs of one build are
    runs of a row.

    With the setting `kernel` only that kernel's runs are read, and the configuration is that of the
    file's name: two kernels read like this can be compared.
    """
    into = Collector(foreign, settings)
    for line, text in foreign.lines(MAX_JSON_BYTES):
        if text.strip():
            try:
                run = json_value(text, f"{foreign.name} line {line}")
            except BadFile as error:
                into.problem("damaged", f"{error}; the other lines are used", line)
                continue
            _read_line(into, run, line)  # more than a file may hold is not a damaged line
    if settings.text("kernel") and not into.figures:
        raise BadFile(
            f"{foreign.name} has no run of kernel {settings.text('kernel')}; see its sha_kernel "
            "members"
        )
    return into.finish(
        NAME, target=file_configuration(foreign.name).get("platform", ""), by_lines=False
    )


def _read_line(into: Collector, run: Any, line: int) -> None:
    if not isinstance(run, dict):
        into.unread(str(run), line)
        return
    wanted = into.settings.text("kernel")
    if wanted and not str(run.get("sha_kernel", "")).startswith(wanted):
        return
    configuration = file_configuration(into.foreign.name)
    clock = board_clock(into.settings, configuration.get("platform", ""))
    if not wanted:
        configuration |= {name: str(run[sha])[:80] for sha, name in _IDENTITY.items() if sha in run}
    index = len(into.runs)
    into.runs[index] = {name: str(run[name])[:80] for name in _ABOUT if name in run}
    for metric, figures in run.items():
        if metric in _ABOUT:
            continue
        known = _known(metric)
        for visit, figure in enumerate(_iterations(figures)):
            summary = _summary(figure)
            if summary is None:
                into.unread(f"{metric}: {figure}", line)
                continue
            own = (
                clock
                if not known.unit
                else into.settings.clock(f"{clock.name}: {known.unit}", known.unit)
            )
            into.figure(
                known.contract,
                own,
                line=line,
                name=metric,
                configuration=configuration,
                better=known.better,
                run=index,
                visit=visit if isinstance(figures[0], list) else -1,
                summary=summary,
            )


def _iterations(figures: Any) -> list[Any]:
    if isinstance(figures, list) and figures and isinstance(figures[0], list):
        return figures
    return [figures]


def _known(metric: str) -> sel4_keys.KnownRow:
    early = sel4_keys.EARLY if metric.endswith("_early") else ""
    name = metric.removesuffix("_early")
    if name in _NAMES:
        return sel4_keys.named(_NAMES[name][0] + early, _NAMES[name][1])
    if match := _IPC.fullmatch(name):
        function = _FUNCTIONS[match[1]] + (" (FPU)" if match[2] else "")
        return sel4_keys.ipc(function, bool(match[3]), int(match[4] or 0))
    if match := _PAGES.fullmatch(name):
        return sel4_keys.page_mapping(_PHASES[match[1]], int(match[2]))
    if match := _SMP.fullmatch(name):
        return sel4_keys.named("SMP Benchmark", f"delay_{match[2]}/cores_{match[1]}")
    return sel4_keys.named(metric)


def _summary(figure: Any) -> Summary | None:
    if not isinstance(figure, list) or len(figure) != 8:
        return None
    low, q1, median, mean, q3, high, sd = (number(value) for value in figure[:7])
    n = whole(figure[7])
    if mean is None or n is None:
        return None
    if mean and not any((low, q1, median, q3, high)):
        return Summary(row=0, n=n, mean=mean, sd=sd)
    return Summary(
        row=0,
        n=n,
        mean=mean,
        sd=sd,
        minimum=low,
        maximum=high,
        median=median,
        quantiles={p: q for p, q in (("0.25", q1), ("0.75", q3)) if q is not None},
        status="failed" if n == 0 else "ok",
        note="zeros without a sample: the tool gave this row up" if n == 0 else "",
    )
