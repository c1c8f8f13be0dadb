# SPDX-License-Identifier: BSD-2-Clause
"""fio JSON: of every job and direction the completion latency with its percentiles, the rate and
the bandwidth.
"""

from __future__ import annotations

from typing import Any

from cyclometer.bundle.model import Span
from cyclometer.ingest.parsed import Collector, Parsed, Settings, machine, number, slug
from cyclometer.ingest.quantities import NS, PER_S
from cyclometer.ingest.reading import Foreign, json_value

NAME = "fio"
DESCRIPTION = "fio --output-format=json"

_LATENCIES = {
    "clat_ns": ("completion", "submission until the completion is seen"),
    "slat_ns": ("submission", "time to submit"),
    "lat_ns": ("total", "from the request until the completion is seen"),
    "sync": ("sync", "one fsync or fdatasync"),
}
_SUBMITTED = Span("one_way", "job: submits", "job: sees the completion")


def detect(head: bytes, _filename: str) -> int:
    return 95 if b'"fio version"' in head else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    """The JSON may follow lines of the job's own output."""
    into = Collector(foreign, settings)
    text = foreign.text[max(foreign.text.find("{"), 0) :]
    content = json_value(text, foreign.name)
    jobs = content.get("jobs") if isinstance(content, dict) else None
    hosts = set()
    for job in jobs if isinstance(jobs, list) else []:
        if not isinstance(job, dict):
            into.unread(str(job)[:200], 0)
            continue
        hosts.add(machine(job.get("hostname")))
        for direction in ("read", "write", "trim", "sync"):
            if isinstance(job.get(direction), dict):
                _read(into, job, direction, job[direction])
    return into.finish(NAME, target=hosts.pop() if len(hosts) == 1 else "", by_lines=False)


def _read(into: Collector, job: dict[str, Any], direction: str, figures: dict[str, Any]) -> None:
    """Add one direction of a job, unless it did no I/O."""
    if not number(figures.get("total_ios")):
        return
    key = f"fio.{slug(str(job.get('jobname', 'job')))}.{direction}"
    options = job.get("job options")
    params = {
        str(name)[:40]: str(value)[:80]
        for name, value in (options.items() if isinstance(options, dict) else ())
        if name in ("rw", "bs", "ioengine", "iodepth", "numjobs", "direct")
    }
    failed = bool(number(job.get("error")))
    for member, (name, title) in _LATENCIES.items():
        latency = figures.get("lat_ns" if member == "sync" else member)
        wanted = (direction == "sync") == (member == "sync")
        if wanted and isinstance(latency, dict) and number(latency.get("N")):
            into.add(
                f"{key}.{name}",
                NS,
                title=title,
                params=params,
                interval=_SUBMITTED if name == "completion" else None,
                n=number(latency.get("N")),
                mean=number(latency.get("mean")),
                sd=number(latency.get("stddev")),
                minimum=number(latency.get("min")),
                maximum=number(latency.get("max")),
                quantiles=_percentiles(latency.get("percentile")),
                status="failed" if failed else "ok",
                note="the job ended with an error" if failed else "",
            )
    for member, name in (("iops", "iops"), ("bw_bytes", "bandwidth")):
        if number(figures.get(member)):
            into.add(f"{key}.{name}", PER_S, params=params, mean=number(figures[member]))


def _percentiles(printed: Any) -> dict[str, float | None]:
    pairs = printed.items() if isinstance(printed, dict) else ()
    known = [(number(percent), number(value)) for percent, value in pairs]
    return {f"{percent / 100:.6g}": value for percent, value in known if percent is not None}
