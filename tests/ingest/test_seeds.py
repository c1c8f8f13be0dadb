# SPDX-License-Identifier: BSD-2-Clause
"""Every published figure of the five sources arrives, and nothing else does."""

import tomllib
from collections import Counter

import pytest

from .conftest import ROOT, Ingested, baseline, index, row, summaries, values

LINES = {
    "microkit-odroidc4": 113,
    "zephyr-latency-measure": 265,
    "sel4bench-mtime": 30,
    "composite-2008": 29,
    "kbench-u540": 540,
}


@pytest.mark.parametrize("name", LINES)
def test_baseline_states_its_lines(name: str) -> None:
    about = tomllib.loads((ROOT / "baselines" / f"{name}.toml").read_text())
    assert len(baseline(name)) == LINES[name] == about["lines"]
    assert about["data"] == f"{name}.csv"
    assert {"title", "source", "machine", "unit", "clock", "rows"} <= about.keys()


def test_zephyr_all_265_lines(ingested: Ingested) -> None:
    bundle = ingested("zephyr_latency.txt")
    options = ("canaries", "objcore", "userspace")
    blocks = Counter(
        next((o for o in options if r.configuration[o] == "on"), "default")
        for r in bundle.identity.rows
    )
    assert blocks == {"default": 47, "canaries": 47, "objcore": 47, "userspace": 124}
    assert len(bundle.identity.rows) == len(bundle.identity.summaries) == 265
    assert not bundle.identity.problems
    for line in baseline("zephyr-latency-measure"):
        on = {o: "on" if o == line["build"] else "off" for o in options}
        (summary,) = summaries(bundle, line["key"], **on)
        assert (summary.mean, summary.extra["ns"]) == (float(line["cycles"]), float(line["ns"]))


def test_zephyr_correction_classes_of_the_default_rows(ingested: Ingested) -> None:
    default = [
        r
        for r in ingested("zephyr_latency.txt").identity.rows
        if "on" not in r.configuration.values()
    ]
    assert Counter(r.contract.correction for r in default) == {
        "subtracted": 19,
        "loop-amortised": 8,
        "none": 20,
    }
    assert all(r.contract.interval.kind != "unknown" for r in default)


def test_change_table_all_30_rows(ingested: Ingested) -> None:
    bundle = ingested("change_table.md")
    assert bundle.identity.target == "HiFive Unleashed"
    assert len({r.source.line for r in bundle.identity.rows if r.source}) == 30
    assert len(bundle.identity.rows) == 60
    assert not bundle.identity.problems
    for line in baseline("sel4bench-mtime"):
        (before,) = summaries(bundle, line["key"], mcs=line["mcs"], state="before")
        (after,) = summaries(bundle, line["key"], mcs=line["mcs"], state="after")
        assert (before.mean, before.sd) == (float(line["mean_before"]), float(line["sd_before"]))
        assert (after.mean, after.sd) == (float(line["mean_after"]), float(line["sd_after"]))
        assert after.extra == {"change_pct": float(line["printed_change_pct"])}
        assert before.extra == {}


def test_a_signal_row_says_what_it_really_times(ingested: Ingested) -> None:
    contract = row(
        ingested("change_table.md"), "notification.signal.to_thread.prio_1", mcs="on", state="after"
    ).contract
    assert "not a signal" in contract.title
    assert contract.sequence[0].endswith("outside the interval")
    assert contract.interval.start == "high: before the blocking Wait"


def test_microkit_all_passes_and_averages(ingested: Ingested) -> None:
    bundle = ingested("microkit_passes.txt")
    assert bundle.identity.target == "odroidc4_1"
    assert len(bundle.identity.rows) == 4
    assert len(bundle.samples) == 100
    assert len(bundle.identity.summaries) == 13
    assert {r.method for r in bundle.identity.rows} == {"passes"}
    assert not bundle.identity.problems
    for line in baseline("microkit-odroidc4"):
        if line["pass"] != "average":
            passes = values(bundle, index(bundle, line["key"]), int(line["run"]))
            assert passes[int(line["pass"])] == float(line["cycles"])
        else:
            run = -1 if line["run"] == "all" else int(line["run"])
            (summary,) = [s for s in summaries(bundle, line["key"]) if s.run == run]
            assert summary.mean == float(line["cycles"])


def test_notes_all_29_figures(ingested: Ingested) -> None:
    bundle = ingested("notes.txt")
    assert len(bundle.identity.rows) == len(bundle.identity.summaries) == 29
    assert sum("us" in s.extra for s in bundle.identity.summaries) == 18
    # The sum in the prose is arithmetic, not a measurement, and is reported instead of swallowed.
    assert {p.kind for p in bundle.identity.problems} == {"unread"}
    for line in baseline("composite-2008"):
        options = {"linux": line["system"]} if line["system"] else {}
        (summary,) = summaries(bundle, line["key"], **options)
        if line["cycles_max"]:
            assert (summary.minimum, summary.maximum) == (
                float(line["cycles"]),
                float(line["cycles_max"]),
            )
            assert summary.mean is None
        else:
            assert summary.mean == float(line["cycles"])
        assert summary.extra == ({"us": float(line["us"])} if line["us"] else {})


# I, D, run of that flow
TABLES = {"3.4": (1, 1, 0), "3.5": (30, 1, 0), "program": (30, 1, 1), "A.2.1": (300, 0, 0)}


def test_kbench_all_540_latencies_in_order(ingested: Ingested) -> None:
    bundle = ingested("kbench_paper.txt", "kbench_program.txt")
    s = bundle.samples
    assert (len(bundle.identity.rows), len(s)) == (3, 540)
    flows = {
        (r.flow.initial, r.flow.delta): i for i, r in enumerate(bundle.identity.rows) if r.flow
    }
    runs = {at: sorted(set(s.run[s.row == at])) for at in flows.values()}
    for line in baseline("kbench-u540"):
        initial, delta, run = TABLES[line["table"]]
        at = flows[initial, delta]
        mask = (
            (s.row == at)
            & (s.run == runs[at][run + int(line["run"])])
            & (s.group == int(line["group"]))
        )
        assert s.value[mask][int(line["test"])] == float(line["cycles"])
        assert set(s.turns[mask]) == {int(line["turns"])}


def test_kbench_statistics_stand_beside_their_group(ingested: Ingested) -> None:
    bundle = ingested("kbench_paper.txt")
    flows = {
        (r.flow.initial, r.flow.delta): i for i, r in enumerate(bundle.identity.rows) if r.flow
    }
    lines = baseline("kbench-u540-statistics")
    assert len(lines) == 79
    for line in lines:
        at = flows[TABLES[line["table"]][:2]]
        (summary,) = [
            s
            for s in bundle.identity.summaries
            if (s.row, s.run, s.group) == (at, int(line["run"]), int(line["group"]))
        ]
        figures = summary.extra | {"mean": summary.mean, "sd": summary.sd}
        assert figures[line["statistic"]] == float(line["value"])
