# SPDX-License-Identifier: BSD-2-Clause
"""A latency that stops the kernel's trace, in a folder that stands for the kernel's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.errors import MeasurementFailed, NotComparable, UsageError
from cyclometer.targets.api import MeasurementResult, Progress, Request
from cyclometer.targets.linux import kernel_trace
from cyclometer.targets.linux.kernel_trace import KernelTrace
from cyclometer.targets.linux.target import LinuxTarget

KEY = "timer.nanosleep"
EVENTS = "cyclometer-7 [001] d..2. 1.5: sched_switch: prev_comm=swapper/1\n"


@pytest.fixture
def tracefs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace that is switched off, and holds an event."""
    for name, text in (("tracing_on", "0\n"), ("trace_marker", ""), ("trace", EVENTS)):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(kernel_trace, "FOLDER", tmp_path)
    return tmp_path


def measure(break_on_s: float, key: str = KEY) -> MeasurementResult:
    request = Request(only=(key,), runs=1, budget_s=0.5, seed=1, break_on_s=break_on_s)
    return LinuxTarget().measure(request, {}, Progress())


def test_the_first_test_above_the_latency_stops_the_trace_and_ends_the_measurement(
    tracefs: Path,
) -> None:
    result = measure(1e-9)
    assert (tracefs / "tracing_on").read_text().strip() == "0"
    (marker,) = (tracefs / "trace_marker").read_text().splitlines()  # once, though all are above
    assert marker.startswith(f"cyclometer: {KEY} took ")
    assert result.above.startswith(f"a test of {KEY} took ")
    assert result.files == {"trace.txt": EVENTS.encode()}
    order = result.bundle.identity.plan["order"]
    assert [one["method"] for one in order if one["circle"] == KEY].count("direct") == 1
    assert order[-1]["circle"] == KEY


def test_a_latency_that_is_never_reached_leaves_the_trace_as_it_was(tracefs: Path) -> None:
    result = measure(3600.0)
    assert (result.above, result.files) == ("", {})
    assert (tracefs / "tracing_on").read_text() == "0\n"
    assert (tracefs / "trace_marker").read_text() == ""


def test_a_trace_that_something_else_stops_is_said(
    tracefs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KernelTrace, "stopped", True)
    with pytest.raises(MeasurementFailed, match="another program stopped the kernel's trace"):
        measure(3600.0)
    assert (tracefs / "tracing_on").read_text() == "1"


def test_where_the_trace_cannot_be_stopped_nothing_is_measured(tracefs: Path) -> None:
    (tracefs / "trace_marker").unlink()
    (tracefs / "trace_marker").mkdir()
    with pytest.raises(NotComparable, match=r"cannot stop the kernel's trace .*run as root"):
        measure(1e-4)


def test_circles_without_one_way_have_nothing_to_break_on(tracefs: Path) -> None:
    with pytest.raises(UsageError, match="one-way circles; choose some by --only"):
        measure(1e-4, "syscall.null")
    assert (tracefs / "tracing_on").read_text() == "0\n"


def test_the_end_of_a_long_trace_is_kept_in_whole_lines(tracefs: Path) -> None:
    lines = [b"%08d: sched_switch\n" % number for number in range(300_000)]
    (tracefs / "trace").write_bytes(b"".join(lines))
    kept = KernelTrace(tracefs).newest()
    assert len(lines[0]) > (4 << 20) - len(kept) >= 0
    assert kept == b"".join(lines[-len(kept) // len(lines[0]) :])


def test_the_trace_is_in_the_bundle_and_the_exit_code_is_1(
    tracefs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tmp_path / "late"
    options = ["--only", KEY, "--runs", "1", "--budget", "500ms", "--break-on", "0.001us"]
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", *options, "-o", str(bundle)], standalone_mode=False)
    assert ended.value.code == 1
    assert f"above --break-on; the kernel's trace is in {bundle / 'trace.txt'}" in "".join(
        capsys.readouterr().err.split("\n")
    )
    assert (bundle / "trace.txt").read_text() == (tracefs / "trace").read_text()
    assert len(store.read(bundle).samples)
