# SPDX-License-Identifier: BSD-2-Clause
"""`compare` and `gate` from the command line: operands, forms of output, exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cyclometer.bundle import store
from cyclometer.cli.compare import command as compare_command
from cyclometer.cli.gate import command as gate_command
from cyclometer.compare.verdicts import compare
from cyclometer.report import cells
from cyclometer.report import comparison as report
from cyclometer.report.documents import kinds
from tests.compare.bundles import ICOUNT, RTL, Spec, bundle, measured, one_side

DATA = Path(__file__).parents[1] / "data"
QUIET = [1000.0, 1000.4, 999.8, 1000.1]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A store with two bundles of one build, and one after a change that slowed circle `a` by 3
    %.
    """
    for name, factor, seed in (("2026-1", 1.0, 1), ("2026-2", 1.0, 2), ("2026-3", 1.03, 3)):
        runs = {"a": [factor * y for y in QUIET], "b": QUIET}
        made = measured(runs, seed=seed, created=f"{name[:4]}-0{seed}-01T00:00:00+00:00")
        store.write(made, tmp_path / name, {})
    return tmp_path


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", "from cyclometer.cli import main; main()", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def result(*arguments: object) -> dict[str, Any]:
    return printed("compare", *arguments)


def printed(*arguments: object) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_two_bundles(stored: Path) -> None:
    found = result(stored / "2026-1", stored / "2026-3")
    assert {row["key"]: row["verdict"] for row in found["rows"]} == {
        "a": "regressed",
        "b": "equivalent",
    }
    row = found["rows"][0]
    assert row["unit"] == "ticks"
    assert row["change"] == pytest.approx(0.03, abs=0.002)
    assert row["interval"][0] < row["change"] < row["interval"][1]
    assert row["after"] / row["before"] - 1 == pytest.approx(row["change"], abs=1e-4)
    assert found["summary"]["counts"] == {"regressed": 1, "equivalent": 1}
    assert found["summary"]["differences"] == []


def test_several_bundles_a_side_and_options_after_the_bar(stored: Path) -> None:
    found = result(stored / "2026-1", stored / "2026-2", "--", stored / "2026-3", "--margin", "5%")
    assert found["rows"][0]["runs"] == [8, 4]
    assert found["summary"]["margin"] == 0.05
    assert found["rows"][0]["verdict"] == "equivalent"


def test_layouts_are_the_runs_of_a_side(tmp_path: Path) -> None:
    """Three images per side, each booted twice: three observations, whose spread decides a
    change of 4 %.
    """
    sides = []
    for name, latency in (("before", 500.0), ("after", 520.0)):
        for layout, moved in (("0", 0.0), ("64", 2.0), ("140", 5.0)):
            path = tmp_path / f"{name}-{layout}"
            store.write(
                bundle(Spec("a", [latency + moved] * 2, clock=RTL), image=path.name), path, {}
            )
            sides.append(path)
    row = result(*sides[:3], "--", *sides[3:])["rows"][0]
    assert (row["verdict"], row["scope"], row["runs"]) == ("regressed", "between images", [3, 3])
    assert result(sides[0], sides[3])["rows"][0]["reason"] == "exact clock, layout floor 15 %"


def test_what_circumstances_refuse_the_note_tells_how_to_compare(tmp_path: Path) -> None:
    for name, options in (("before", {"mcs": "off"}), ("after", {"mcs": "on"})):
        store.write(bundle(Spec("a", QUIET, configuration=options)), tmp_path / name, {})
    refused = run("compare", tmp_path / "before", tmp_path / "after")
    assert "mcs off against on" in refused.stdout
    assert "circumstances alone are compared with --across mcs\n" in refused.stdout
    freed = run("compare", tmp_path / "before", tmp_path / "after", "--across", "mcs")
    assert "1 equivalent" in freed.stdout
    assert "--across" not in freed.stdout
    mistyped = run("compare", tmp_path / "before", tmp_path / "after", "--across", "mcs-on")
    assert mistyped.returncode == 2
    assert "--across mcs-on: no circle has that option; they have mcs" in mistyped.stderr


def test_foreign_files_of_one_side_are_its_runs() -> None:
    log = DATA / "sel4bench_console.log"
    found = result(log, DATA / "sel4bench_unrounded.json", "--", log)
    assert {tuple(row["runs"]) for row in found["rows"] if row["verdict"] == "undecided"}
    assert max(row["runs"][0] for row in found["rows"]) >= 2


def test_sides_that_name_no_machine_are_told_of_it(tmp_path: Path) -> None:
    log = DATA / "sel4bench_console.log"
    bare = tmp_path / "bare.log"
    text = log.read_text()
    bare.write_text(text[text.index("JSON OUTPUT") :])
    told = "neither side says on which machine it was measured"
    assert told in run("compare", bare, bare).stdout
    assert told not in run("compare", log, log).stdout
    mixed = json.loads(run("compare", bare, log, "--json").stdout)
    assert {row["verdict"] for row in mixed["rows"]} == {"not comparable"}


def test_one_file_of_both_states() -> None:
    found = result(DATA / "change_table.md")
    assert len(found["rows"]) == 30
    signal = next(r for r in found["rows"] if r["key"] == "notification.signal.to_thread.prio_1")
    assert round(100 * signal["change"], 2) == -28.71
    chosen = result(
        DATA / "zephyr_latency.txt",
        "--across",
        "canaries=off,on",
        "--across",
        "userspace=off,off",
        "--across",
        "objcore=off,off",
    )
    assert len(chosen["rows"]) == 47
    assert {row["verdict"] for row in chosen["rows"]} == {"undecided"}


def test_the_margin_of_a_gate_holds_for_exact_counts(tmp_path: Path) -> None:
    for name, count in (("old", 1000.0), ("new", 1068.0)):
        store.write(bundle(Spec("a", [count], clock=ICOUNT)), tmp_path / name, {})
    sides = tmp_path / "old", tmp_path / "new"
    for margin, code, sentence in (
        ((), 0, "Of 1 row: 1 changed."),
        (("--margin", "10%"), 0, "Of 1 row: 1 equivalent; margin 10 %."),
        (("--margin", "6%"), 1, "Of 1 row: 1 over margin (most: a +6.80 %); margin 6 %."),
        (("--margin", "0%"), 1, "Of 1 row: 1 over margin (most: a +6.80 %); margin 0 %."),
    ):
        done = run("gate", *sides, *margin)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (code, sentence)
        assert "+68 instructions" in done.stdout
    for form in ("mail", "markdown", "json"):
        result = run("compare", *sides, "--format", form).stdout
        assert "+68 instructions" in result
        assert "regressed" not in result


def test_gate_ends_with_its_code_and_a_sentence(stored: Path) -> None:
    same, worse = (run("gate", stored / "2026-1", stored / f"2026-{n}") for n in (2, 3))
    assert (same.returncode, worse.returncode) == (0, 1)
    assert (
        same.stdout.splitlines()[-1]
        == "Of 2 rows: 2 equivalent; margin 1 %, false discovery rate 5 %."
    )
    assert "1 regressed (most: a +3." in worse.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a", "b", "c"], 2, "which of the 3 operands come before"),
        (["a", "--"], 2, "write it once, between them"),
        (["a", "--", "b", "--", "c"], 2, "write it once, between them"),
        (
            ["a"],
            2,
            "a does not hold both sides (rows of state=before, after); name what came after, too",
        ),
        (["a", "a", "--", "b"], 2, "a is named twice"),
        (["nowhere", "nothing"], 2, "nowhere cannot be read"),
        (["a", "b", "--margin", "100%"], 2, "not a share between 0 and 1"),
        (["a", "b", "--fdr", "x"], 2, "not a share"),
        (["a", "b", "--margin", "2hours"], 2, "'hours' is not a unit of a clock"),
        (["a", "b", "--margin", "1%,2%"], 2, "more than one share"),
        (["a", "b", "--across", "mcs=on"], 2, "neither NAME nor NAME=BEFORE,AFTER"),
        (["a", "b", "--json", "--markdown"], 2, "exclude each other"),
        (["--matrix", "a", "b"], 2, "write `cyclometer matrix BUNDLE...`"),
        (["a", "--aa"], 2, "write `cyclometer aa BUNDLE...`"),
        (["a", "--history", "--only", "x"], 2, "write `cyclometer history BUNDLE...`"),
        ([], 2, "Missing argument"),
    ],
)
def test_usage(
    arguments: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        store.write(bundle(Spec("x", [1.0])), tmp_path / name, {})
    done = run("compare", *arguments)
    assert done.returncode == code
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_nothing_comparable_is_said_with_the_code(stored: Path) -> None:
    other = stored / "other"
    store.write(bundle(Spec("new", [1.0])), other, {})
    assert run("compare", stored / "2026-1", other).returncode == 4
    store.write(bundle(), stored / "empty", {})
    assert run("compare", stored / "empty", stored / "empty").returncode == 6


def test_commands_without_sides_read_a_store(stored: Path) -> None:
    record = printed("aa", stored)
    assert {"method", "alarms", "comparisons", "rate", "interval", "nominal"} == set(
        record["methods"][0]
    )
    found = printed("history", stored)
    assert [len(series["points"]) for series in found["series"]] == [3, 3]
    laid = printed("matrix", stored / "2026-1", stored / "2026-3")
    assert laid["columns"] == ["2026-1", "2026-3"]
    assert [mean["ratio"] for mean in laid["means"][0]["columns"][1:]] == pytest.approx(
        [1.03**0.5], abs=0.002
    )
    assert run("aa", stored / "2026-1" / "nothing").returncode == 2
    mail = run("matrix", stored, "--format", "mail")
    assert (mail.returncode, mail.stdout) == (2, "")
    assert "--format mail prints a comparison of two sides" in mail.stderr
    amount = run("history", stored, "--margin", "2ticks")
    assert (amount.returncode, amount.stdout) == (2, "")


@pytest.mark.parametrize("command", [compare_command, gate_command])
def test_help_has_an_example(command: Any) -> None:
    assert "Example: cyclometer " in command.help


HOSTILE = "x|y<script>alert(1)</script>`@here`\x1b[31m\n| a | b |"


def test_markdown_is_short_and_inert() -> None:
    before = one_side(*(Spec(f"{HOSTILE}{i}", QUIET) for i in range(400)))
    after = one_side(*(Spec(f"{HOSTILE}{i}", [1.1 * y for y in QUIET]) for i in range(399)))
    text = report.markdown(compare(before, after))
    assert len(text) < 10_000
    assert "and 375 more such rows." in text
    assert "399 regressed" in text
    assert "<script" not in text
    assert "\x1b" not in text
    assert "@here" not in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in table} == {7}
    assert len(table) == 2 + 25


def test_markdown_folds_away_what_is_undecided_with_what_would_decide_it() -> None:
    noisy = [100.0, 104.0, 97.0]
    before, after = (
        one_side(Spec("a", noisy), Spec("b", QUIET)),
        one_side(Spec("a", noisy[::-1]), Spec("b", QUIET)),
    )
    text = report.markdown(compare(before, after))
    assert (
        text.splitlines()[2] == "<details><summary>1 undecided row and what would decide</summary>"
    )
    assert re.search(r"\| `a` \|.*undecided: .* more runs? per side", text)
    assert "`b`" not in text
    assert "<details>" not in report.markdown(
        compare(one_side(Spec("b", QUIET)), one_side(Spec("b", QUIET)))
    )


def test_terminal_output_is_inert(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = one_side(Spec(HOSTILE + "[bold]", QUIET, summary={"note": HOSTILE}))
    report.show(compare(hostile, one_side()))
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "[bold]" in shown
    assert "removed" in shown


def test_printed_changes_have_the_digits_their_interval_supports() -> None:
    assert cells.signed(-0.28706) == "-28.71 %"
    assert cells.signed(0.0212, 0.004) == "+2.1 %"
    assert cells.signed(0.0212, 0.3) == "+2 %"
    assert cells.signed(0.42, 3.0) == "+40 %"
    assert cells.signed(0.00001234) == "+0.00123 %"
    assert cells.signed(-0.0001, 0.01) == "0.0 %"
    assert cells.signed(0.0) == "0.00 %"


def test_environment_differences_are_told() -> None:
    one, other = (one_side(Spec("a", QUIET), kernel_release=release) for release in ("6.1", "6.5"))
    found = compare(one, other)
    assert report.notes(found, found.findings) == ["kernel_release was 6.1, is 6.5"]
    assert kinds.plain(report.as_json(found))["summary"]["differences"] == [
        {"name": "kernel_release", "before": "6.1", "after": "6.5"}
    ]
    many = compare(
        one_side(Spec("a", QUIET), **{f"fact{i}": 0 for i in range(40)}), one_side(Spec("a", QUIET))
    )
    assert (
        report.notes(many, many.findings)[-1]
        == "and 28 more differences of the environment (--json lists them)"
    )
