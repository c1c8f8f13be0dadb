# SPDX-License-Identifier: BSD-2-Clause
"""What the rules must find in the published figures, on fixtures that carry all of them."""

from pathlib import Path

from cyclometer.bundle.model import Bundle
from cyclometer.ingest import ingest
from cyclometer.lint import Issue, check

DATA = Path(__file__).parents[1] / "data"


def lint(name: str) -> tuple[Bundle, dict[str, list[Issue]]]:
    bundle, _ = ingest([DATA / name])
    found: dict[str, list[Issue]] = {}
    for finding in check(bundle):
        found.setdefault(finding.rule, []).append(finding)
    return bundle, found


def keys(bundle: Bundle, finding: Issue) -> set[str]:
    return {bundle.identity.rows[index].contract.key for index in finding.rows}


def test_change_table_all_30_rows_change_against_after() -> None:
    bundle, found = lint("change_table.md")
    (base,) = found["change-base"]
    assert len(set(base.rows)) == 60  # 30 rows, before and after
    assert len({bundle.identity.rows[index].source.line for index in base.rows}) == 30  # type: ignore[union-attr]
    assert "-43.51 % is -30.32 % of before" in base.what


def test_change_table_most_changes_are_within_the_spread() -> None:
    _, found = lint("change_table.md")
    (noise,) = found["change-noise"]
    assert noise.what.startswith("17 of 30")


def test_change_table_thread_slower_than_process() -> None:
    bundle, found = lint("change_table.md")
    assert any(
        "notification.signal.to_thread.prio_193" in keys(bundle, finding)
        for finding in found["order"]
    )


def test_notes_cycles_that_are_not_the_time() -> None:
    bundle, found = lint("notes.txt")
    wrong = {next(iter(keys(bundle, finding))): finding.what for finding in found["clock-rate"]}
    # and none of the other 16 pairs
    assert wrong.keys() == {"thread.yield.cross", "brand.upcall.mediated.declined"}
    assert "4448.927 cycles are 1.854 us" in wrong["thread.yield.cross"]
    assert "not 1.97" in wrong["thread.yield.cross"]
    assert "5027 cycles are 2.095 us" in wrong["brand.upcall.mediated.declined"]
    assert "not 2.07" in wrong["brand.upcall.mediated.declined"]


def test_notes_at_the_stated_rate() -> None:
    from cyclometer.ingest import Settings

    bundle, _ = ingest([DATA / "notes.txt"], Settings({"hz": "2.4e9"}))
    found = [finding for finding in check(bundle) if finding.rule == "clock-rate"]
    assert len(found) == 2
    assert all("at 2400 MHz (stated" in finding.what for finding in found)


def test_zephyr_phantom_differences() -> None:
    bundle, found = lint("zephyr_latency.txt")
    pairs = [keys(bundle, finding) for finding in found["correction"]]
    for one, other in (
        ("events.set.wake+ctx.k_to_k", "events.post.wake+ctx.k_to_k"),
        ("events.wait.blocking.k_to_k", "events.wait_all.blocking.k_to_k"),
    ):
        assert any({one, other} <= pair for pair in pairs)
    assert "clock-rate" not in found  # 265 pairs of cycles and nanoseconds agree
    assert "identical" not in found
    assert "two-configurations" not in found


def test_microkit_cold_first_passes_inside_every_mean() -> None:
    bundle, found = lint("microkit_passes.txt")
    assert len(found["cold-in-mean"]) == len(bundle.identity.rows) == 4
    counts = [
        finding.what.split("inside the mean of ")[1].split(" runs")[0]
        for finding in found["cold-in-mean"]
    ]
    assert counts == ["3 of 3", "3 of 3", "3 of 3", "1 of 1"]  # all ten runs
    assert "printed-mean" not in found


def test_kbench_printed_statistics_hold() -> None:
    _, found = lint("kbench_paper.txt")
    assert not {"printed-mean", "contradiction", "zero-sentinel"} & found.keys()


def test_sel4bench_row_with_the_data_of_another() -> None:
    bundle, found = lint("HIFIVE_64.jsonl")
    doubled = [keys(bundle, finding) for finding in found["identical"]]
    assert {
        "notification.signal.to_process.prio_1",
        "notification.signal.to_thread.prio_1.early",
    } in doubled


def test_sel4bench_zeros_and_missing_overhead() -> None:
    bundle, found = lint("TX1_MCS_64.json")
    zero = {key for finding in found["zero-sentinel"] for key in keys(bundle, finding)}
    assert zero == {
        row.contract.key
        for row in bundle.identity.rows
        if row.contract.key.endswith(".early") or ".to_process." in row.contract.key
    }
    (missing,) = found["plus-overhead"]
    assert keys(bundle, missing) == {"syscall.null", "syscall.null.early", "overhead.nop_syscall"}
    assert {key for finding in found["direction"] for key in keys(bundle, finding)} == {
        "endpoint.call.smp.delay_500.cores_1",
        "endpoint.call.smp.delay_500.cores_2",
    }
