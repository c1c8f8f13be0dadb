# SPDX-License-Identifier: BSD-2-Clause
"""Exports for other tools, held against those tools' own readers where they are installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pyperf
import pytest
from msgspec.structs import replace as changed

from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.report.export import EXPORTERS
from cyclometer.report.export import request as requests
from tests.compare import bundles as printed
from tests.report import sample_bundles as bundles

BENCHSTAT = shutil.which(
    "benchstat", path=f"{Path(sys.executable).parent}:{Path.home()}/go/bin"
) or shutil.which("benchstat")


def export(bundle, name, keys=()):
    return EXPORTERS.load(name)(requests.make(bundle, keys))


def written(folder: Path, name: str, **made) -> Path:
    path = folder / f"{name}-{made.get('scale', 1)}"
    path.write_text(export(bundles.typical(**made), name))
    return path


def run_values(bundle):
    """Quiet latency a run of every valid circle."""
    return {e.contract.key: [r.latency.value for r in e.runs] for e in estimates(bundle) if e.valid}


def rates(bundle):
    """`bundle` with its first row a rate, of which more is better."""
    rows = bundle.identity.rows
    better = (changed(rows[0], better="higher"), *rows[1:])
    return replace(bundle, identity=changed(bundle.identity, rows=better))


def test_benchstat_text_has_a_line_a_run():
    bundle = bundles.typical()
    lines = export(bundle, "benchstat").splitlines()
    found = {}
    for line in lines:
        if line.startswith("Benchmark/"):
            name, count, value, unit = line.split()
            assert int(count) > 0
            assert unit == "ticks/op"
            found.setdefault(name.removeprefix("Benchmark/"), []).append(float(value))
    assert found == run_values(bundle)
    assert "Unit ticks/op better=lower" in lines


def test_benchstat_text_says_that_an_exact_clock_is_exact():
    text = export(bundles.typical(clock=bundles.ICOUNT), "benchstat")
    assert "Unit instructions/op better=lower assume=exact\n" in text


def test_benchstat_text_holds_back_what_changes_between_builds():
    before = bundles.typical()
    after = replace(
        before,
        identity=changed(before.identity, environment={"cpu_model": "Test CPU", "kernel": "7"}),
    )
    assert export(before, "benchstat") == export(after, "benchstat")


@pytest.mark.skipif(BENCHSTAT is None, reason="benchstat is not installed")
def test_benchstat_finds_the_change(tmp_path: Path):
    files = [
        written(tmp_path, "benchstat", scale=scale, clock=bundles.ICOUNT) for scale in (1.0, 1.25)
    ]
    out = subprocess.run([BENCHSTAT, *files], check=True, capture_output=True, text=True)
    line = next(line for line in out.stdout.splitlines() if "pipe.round_trip" in line)
    assert "+25.0" in line
    assert "syntax" not in out.stderr


def test_pyperf_reads_the_suite_back(tmp_path: Path):
    suite = pyperf.BenchmarkSuite.load(str(written(tmp_path, "pyperf")))
    bundle = bundles.typical()
    expected = {key: [v / 2.5e9 for v in values] for key, values in run_values(bundle).items()}
    assert {b.get_name(): list(b.get_values()) for b in suite} == {
        k: pytest.approx(v) for k, v in expected.items()
    }
    assert {b.get_unit() for b in suite} == {"second"}


def test_pyperf_suite_of_instructions_has_no_seconds(tmp_path: Path):
    suite = pyperf.BenchmarkSuite.load(str(written(tmp_path, "pyperf", clock=bundles.ICOUNT)))
    assert {b.get_unit() for b in suite} == {"integer"}


def test_a_value_that_pyperf_would_refuse_is_refused_here():
    zero = printed.bundle(
        printed.Spec("cache.misses", [0.0, 0.0]), printed.Spec("pipe", [5.0, 6.0])
    )
    with pytest.raises(
        UsageError, match=r"positive values only, not cache\.misses; choose with --circle"
    ):
        export(zero, "pyperf")
    assert [
        b["metadata"]["name"] for b in json.loads(export(zero, "pyperf", ("pipe",)))["benchmarks"]
    ] == ["pipe"]


def test_pyperf_compares_two_suites(tmp_path: Path):
    files = [str(written(tmp_path, "pyperf", scale=scale)) for scale in (1.0, 1.25)]
    command = [sys.executable, "-m", "pyperf", "compare_to", *files]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert f"{bundles.PIPE.key}: Mean +- std dev" in out
    assert "1.25x slower" in out


def test_google_benchmark_has_a_repetition_a_run():
    bundle = bundles.typical()
    content = json.loads(export(bundle, "google-benchmark"))
    found = {}
    for item in content["benchmarks"]:
        assert (item["run_type"], item["time_unit"], item["repetitions"]) == ("iteration", "ns", 3)
        found.setdefault(item["name"], []).append(item["real_time"])
    expected = {key: [v / 2.5 for v in values] for key, values in run_values(bundle).items()}
    assert found == {key: pytest.approx(values) for key, values in expected.items()}


def test_google_benchmark_refuses_a_clock_that_is_no_time():
    with pytest.raises(UsageError, match="in instructions"):
        export(bundles.typical(clock=bundles.ICOUNT), "google-benchmark")


def test_bencher_names_the_measure_for_what_it_is():
    timed = json.loads(export(bundles.typical(), "bencher"))[bundles.PIPE.key]["latency"]
    pipe = estimates(bundles.typical())[0]
    assert timed["value"] == pytest.approx(pipe.latency.value / 2.5)
    assert timed["lower_value"] < timed["value"] < timed["upper_value"]
    counted = json.loads(export(bundles.typical(clock=bundles.ICOUNT), "bencher"))[bundles.PIPE.key]
    assert list(counted) == ["instructions"]


def test_github_action_entries_carry_value_unit_and_range():
    bundle = bundles.typical()
    entries = json.loads(export(bundle, "github-action"))
    expected = [(e.contract.key, e.latency.value) for e in estimates(bundle) if e.valid]
    assert [(e["name"], e["value"]) for e in entries] == expected
    assert {e["unit"] for e in entries} == {"ticks"}
    assert all(e["range"].startswith("± ") for e in entries)


def test_github_action_refuses_two_directions_in_one_file():
    bundle = rates(bundles.typical())
    with pytest.raises(UsageError, match=f"higher is better for {bundles.PIPE.key}"):
        export(bundle, "github-action")
    assert len(json.loads(export(bundle, "github-action", (bundles.PIPE.key,)))) == 1


def test_junit_counts_invalid_and_failed_circles():
    suite = ElementTree.fromstring(export(bundles.typical(), "junit"))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "2", "0")
    faults = {
        case.get("name"): case[0].get("message") for case in suite if case[0].tag == "failure"
    }
    assert faults["futex.round_trip"] == "no answer within 10 s"
    assert "expected 20 in 10 turns" in faults[bundles.SIGNAL.key]


def test_junit_holds_any_text():
    evil = "<&\"'\x00\x1b[31m\ud800]]>"
    bundle = bundles.renamed(bundles.typical(), [evil, evil, "x.y", "z.w"])
    case = ElementTree.fromstring(export(bundle, "junit"))[0][0]
    assert case.get("name") == "<&\"'\ufffd\ufffd[31m\ufffd]]>"


@pytest.mark.parametrize(
    "name", ["benchstat", "pyperf", "google-benchmark", "bencher", "github-action"]
)
def test_formats_of_results_alone_refuse_a_bundle_without_any(name):
    with pytest.raises(NothingMeasured, match="no circle of the bundle has a valid latency"):
        export(bundles.typical(), name, (bundles.SIGNAL.key,))
