# SPDX-License-Identifier: BSD-2-Clause
"""Exports of our own formats and KBench's: content, selection, and what they refuse."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from msgspec.structs import replace as changed

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.errors import UsageError
from cyclometer.estimate.rows import estimates
from cyclometer.report.export import EXPORTERS
from cyclometer.report.export import request as requests
from tests.report import sample_bundles as bundles


def export(bundle, name, keys=(), **options):
    return EXPORTERS.load(name)(replace(requests.make(bundle, keys), **options))


def test_json_holds_every_estimate_with_its_contract_and_runs():
    bundle = bundles.typical()
    content = json.loads(export(bundle, "json"))
    found = estimates(bundle)
    assert [row["key"] for row in content["rows"]] == [e.contract.key for e in found]
    pipe = content["rows"][0]
    assert pipe["estimate"] == found[0].latency.value
    assert [run["run"] for run in pipe["per_run"]] == [1, 2, 3]
    assert np.mean([run["latency"]["estimate"] for run in pipe["per_run"]]) == pytest.approx(
        pipe["estimate"]
    )
    assert pipe["contract"]["sequence"] == list(bundles.PIPE.sequence)
    assert content["problems"][0]["what"] == "no answer within 10 s"


def test_csv_has_a_line_a_circle_and_says_what_is_invalid():
    lines = list(csv.DictReader(io.StringIO(export(bundles.typical(), "csv"))))
    assert [line["key"] for line in lines] == [
        bundles.PIPE.key,
        bundles.TIMER.key,
        bundles.SIGNAL.key,
    ]
    assert float(lines[0]["low"]) < float(lines[0]["estimate"]) < float(lines[0]["high"])
    assert lines[2]["valid"] == "False"
    assert "switches: expected 20 in 10 turns, seen 21" in lines[2]["reason"]


def test_csv_samples_are_all_there_in_order():
    bundle = bundles.typical()
    lines = list(
        csv.DictReader(io.StringIO(export(bundle, "csv", (bundles.TIMER.key,), samples=True)))
    )
    e = next(e for e in estimates(bundle) if e.contract.key == bundles.TIMER.key)
    of_row = bundle.samples.row == e.row
    assert [float(line["value"]) for line in lines] == bundle.samples.value[of_row].tolist()
    assert {line["kind"] for line in lines} == {"measurement", "overhead"}
    assert [line["count_switches"] for line in lines[:2]] == ["2", "2"]


def test_csv_samples_name_their_tags():
    text = export(bundles.typical(), "csv", (bundles.PIPE.key,), samples=True)
    tags = [line["tags"] for line in csv.DictReader(io.StringIO(text))]
    assert tags.count("interrupt") == 3 * 7
    assert set(tags) == {"", "interrupt"}


def test_kbench_table_reads_back_as_the_samples_of_that_run():
    bundle = bundles.typical()
    text = export(bundle, "kbench", (bundles.PIPE.key,), run=2)
    header = {
        name: int(value) for name, value in re.findall(r"^([A-Z][^:\n]*): (\d+)$", text, re.M)
    }
    assert header == {
        "Initial Test size": 10,
        "Delta": 10,
        "Number of Tests / Sample size of Accumulated latency": 40,
        "Number of Groups": 3,
    }
    body = text.split("Accumulated latencies (clock cycles):\n")[1].split("\n\nDone!\n")[0]
    A = np.array([line.split() for line in body.splitlines()], float)
    run = (bundle.samples.row == 0) & (bundle.samples.run == 2)
    assert np.array_equal(A.T.ravel(), bundle.samples.value[run])


def test_kbench_says_what_the_table_cannot():
    text = export(bundles.typical(), "kbench", (bundles.PIPE.key,))
    preamble = text.split("Initial Test size")[0]
    assert "pipe.round_trip.cross.equal, run 1, clock tsc (ticks at 2500 MHz)" in preamble
    assert "7 of the tests were disturbed" in preamble


def test_kbench_cuts_an_unfinished_visit_and_says_so():
    bundle = bundles.typical()
    unfinished = replace(
        bundle.samples, row=np.where(np.arange(len(bundle.samples)) == 119, 9, bundle.samples.row)
    )
    text = export(replace(bundle, samples=unfinished), "kbench", (bundles.PIPE.key,))
    assert "Accumulated latency: 39\n" in text
    assert "2 tests of an unfinished visit are left out" in text


@pytest.mark.parametrize(
    ("keys", "run", "complaint"),
    [
        ((), None, "name one with --circle"),
        ((bundles.PIPE.key,), 9, "no run 9"),
        (("nothing",), None, "no circle"),
    ],
)
def test_kbench_refuses_more_than_one_circle_and_runs_it_has_not(keys, run, complaint):
    with pytest.raises(UsageError, match=complaint):
        export(bundles.typical(), "kbench", keys, run=run)


def test_markdown_stays_a_table_whatever_a_field_holds():
    evil = "a|b`c\n<script>alert(1)</script> @everyone https://example.org"
    bundle = bundles.renamed(bundles.typical(), [evil, evil, "x.y", "z.w"])
    lines = export(bundle, "markdown").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 3
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 7 for line in table)
    assert "1 of 3 circles have no valid latency:" in lines


def test_names_tell_configurations_apart():
    maker = bundles.Maker(configuration={"mcs": "on", "asid": "on"}).accumulated(bundles.PIPE, 100)
    maker.configuration = {"mcs": "off", "asid": "on"}
    bundle = maker.accumulated(bundles.PIPE, 90).bundle()
    assert requests.make(bundle).names == (
        "pipe.round_trip.cross.equal/mcs=on",
        "pipe.round_trip.cross.equal/mcs=off",
    )
    assert len(requests.make(bundle, where={"mcs": "off"}).estimates) == 1
    again = replace(bundle, identity=changed(bundle.identity, rows=(bundle.identity.rows[0],) * 2))
    assert requests.make(again).names == (
        "pipe.round_trip.cross.equal/1",
        "pipe.round_trip.cross.equal/2",
    )
    with pytest.raises(UsageError, match="no circle with mcs=maybe"):
        requests.make(bundle, where={"mcs": "maybe"})


def test_command_writes_a_file(tmp_path: Path):
    stored = store.write(bundles.typical(), tmp_path / "bundle", {})
    out = tmp_path / "out.csv"
    result = CliRunner().invoke(cli, ["export", stored.path, "--format", "csv", "-o", str(out)])
    assert result.exit_code == 0
    assert result.output.startswith("note: no valid latency for signal.self.kill;")
    assert out.read_text().startswith("key,")


def test_command_lists_every_format_with_what_it_is():
    result = CliRunner().invoke(cli, ["export", "--list"])
    listed = dict(line.split(maxsplit=1) for line in result.output.splitlines())
    assert set(listed) == set(EXPORTERS.names()) >= {"csv", "json", "kbench", "markdown"}
    assert all(len(description) > 20 for description in listed.values())


def test_command_refuses_an_unknown_format(tmp_path: Path):
    stored = store.write(bundles.typical(), tmp_path / "bundle", {})
    result = CliRunner().invoke(cli, ["export", stored.path, "--format", "word"])
    assert isinstance(result.exception, UsageError)
    assert "there are bencher, benchstat, csv" in str(result.exception)
