# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer ingest` and `cyclometer lint` as a user meets them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.errors import UsageError

DATA = Path(__file__).parents[1] / "data"


def run(*words: str) -> str:
    outcome = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_ingest_writes_a_bundle_with_the_raw_file(tmp_path: Path) -> None:
    target = tmp_path / "bundle"
    output = run(
        "ingest", str(DATA / "microkit_passes.txt"), "-o", str(target), "--set", "board=odroidc4"
    )
    assert "4 rows, 3 run(s), 13 printed statistics, 100 raw values" in output
    bundle = store.read(target)
    assert bundle.identity.target == "odroidc4"
    assert (target / "raw" / "microkit_passes.txt").read_bytes() == (
        DATA / "microkit_passes.txt"
    ).read_bytes()


def test_ingest_names_the_bundle_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        run("ingest", str(DATA / "hackbench.txt"))
    assert [path.name for path in store.bundles(Path("results"))] == ["hackbench", "hackbench-2"]


def test_ingest_reports_what_it_did_not_understand(tmp_path: Path) -> None:
    report = json.loads(
        run("ingest", str(DATA / "zephyr_rec.txt"), "-o", str(tmp_path / "b"), "--json")
    )
    assert [problem["kind"] for problem in report["problems"]] == ["unread"]
    assert report["problems"][0]["where"] == "zephyr_rec.txt line 8"
    assert "unread: zephyr_rec.txt line 8" in run(
        "ingest", str(DATA / "zephyr_rec.txt"), "-o", str(tmp_path / "c")
    )


def test_ingest_lists_formats_and_settings() -> None:
    output = run("ingest", "--formats")
    assert "sel4bench-history" in output
    assert "icount_shift" in output


def test_a_setting_without_value_is_refused(tmp_path: Path) -> None:
    words = ["ingest", str(DATA / "hackbench.txt"), "--set", "board", "-o", str(tmp_path / "b")]
    outcome = CliRunner().invoke(cli, words)
    assert outcome.exit_code == 2
    assert "NAME=VALUE" in outcome.output
    assert not (tmp_path / "b").exists()


def test_a_bad_file_is_one_sentence_and_exit_2(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_bytes(b"\x7fELF" + bytes(50))
    command = [
        sys.executable,
        "-c",
        "from cyclometer.cli import main; main()",
        "ingest",
        "x.log",
        "-o",
        "b",
    ]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert outcome.returncode == 2
    assert (
        outcome.stderr.strip()
        == "cyclometer: x.log is an ELF binary, not text; give the unpacked log or table"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.log"]


def test_printed_figures_are_shown_as_they_were_printed_and_told_apart(tmp_path: Path) -> None:
    run("ingest", str(DATA / "notes.txt"), "-o", str(tmp_path / "b"))
    output = run("show", str(tmp_path / "b"))
    shown = {words[0]: words[1] for line in output.splitlines() if len(words := line.split()) > 1}
    assert shown["component.invoke"] == "1629"
    assert shown["thread.yield.cross/linux=redhat"] == "4448.93"
    assert shown["thread.yield.cross/linux=vanilla"] == "3089"
    assert shown["hardware.crossing.one"] == "none"  # a range was printed, and no mean
    assert "a latency without an interval is one figure whose spread is not known" in output
    one = run("show", str(tmp_path / "b"), "--circle", "thread.yield.cross/linux=redhat")
    assert one.count("  latency  ") == 1
    assert "linux=redhat" in one
    exported = run(
        "export",
        str(tmp_path / "b"),
        "--format",
        "csv",
        "--circle",
        "thread.yield.cross/linux=redhat",
    )
    assert [line.split(",")[:2] for line in exported.splitlines()[1:]] == [
        ["thread.yield.cross", "linux=redhat"]
    ]


def test_flows_of_one_circle_are_told_apart(tmp_path: Path) -> None:
    run("ingest", str(DATA / "kbench_paper.txt"), "-o", str(tmp_path / "b"))
    output = run("show", str(tmp_path / "b"))
    key = "notification.signal.round_trip.low_to_high"
    assert [line.split()[0] for line in output.splitlines() if key in line] == [
        f"{key}/turns=1-5",
        f"{key}/turns=30-34",
        f"{key}/turns=300",
    ]


def test_quantiles_that_the_passes_do_not_support_are_not_printed(tmp_path: Path) -> None:
    run("ingest", str(DATA / "microkit_passes.txt"), "-o", str(tmp_path / "b"))
    output = run("show", str(tmp_path / "b"), "--circle", "microkit.ppcall")
    assert "quantiles      min 145, p50 169 (169 to 172), max 445 of 30 passes" in output
    shown = run("show", str(tmp_path / "b"), "--circle", "microkit.ppcall", "--json")
    (row,) = json.loads(shown)["rows"]
    assert list(row["quantiles"]) == ["0.5"]


def test_lint_reads_bundles_and_files(tmp_path: Path) -> None:
    run("ingest", str(DATA / "change_table.md"), "-o", str(tmp_path / "b"))
    for path in (tmp_path / "b", DATA / "change_table.md"):
        output = run("lint", str(path))
        assert "-43.51 % is -30.32 % of before" in output
        assert "fix: Divide by the value before." in output


def test_lint_shows_what_a_line_about_the_rest_would_hide() -> None:
    output = run("lint", str(DATA / "zephyr_latency.txt"))
    assert "correction (warning): rows that are not corrected alike" in output
    assert "events: post (none) and set (subtracted) are not corrected alike" in output
    assert " more; --json lists them" not in output
    assert "and 6 more; --json lists them" in run("lint", str(DATA / "TX1_MCS_64.json"))


def test_lint_strict_ends_with_4() -> None:
    assert (
        CliRunner().invoke(cli, ["lint", str(DATA / "change_table.md"), "--strict"]).exit_code == 4
    )
    assert CliRunner().invoke(cli, ["lint", str(DATA / "hackbench.txt"), "--strict"]).exit_code == 0


def test_lint_json_names_rows() -> None:
    (bundle,) = json.loads(run("lint", str(DATA / "notes.txt"), "--json"))["bundles"]
    rates = [finding for finding in bundle["findings"] if finding["rule"] == "clock-rate"]
    assert [finding["rows"][0]["key"] for finding in rates] == [
        "thread.yield.cross",
        "brand.upcall.mediated.declined",
    ]


def test_lint_explains_its_rules() -> None:
    assert "change-base (error)" in run("lint", "--rules")
    assert len(json.loads(run("lint", "--rules", "--json"))["rules"]) == 21


def test_lint_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no bundle is named"):
        run("lint")
