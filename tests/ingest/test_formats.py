# SPDX-License-Identifier: BSD-2-Clause
"""Each format, in every shape it has had."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cyclometer.errors import UsageError
from cyclometer.ingest import Settings, detect, formats, ingest
from cyclometer.ingest.formats import IN_TREE
from cyclometer.ingest.formats.sel4.sel4bench import file_configuration
from cyclometer.ingest.parsed import SETTINGS
from cyclometer.ingest.reading import decode, read

from .conftest import DATA, ROOT, Ingested, index, row, summaries, values

FORMATS = {
    "HIFIVE_64.jsonl": "sel4bench-history",
    "TX1_MCS_64.json": "sel4bench",
    "change_table.md": "table",
    "cyclictest.json": "rt-tests",
    "cyclictest.txt": "rt-tests",
    "cyclictest_histogram.txt": "rt-tests",
    "google_benchmark.json": "google-benchmark",
    "hackbench.txt": "hackbench",
    "kbench_paper.txt": "kbench",
    "kbench_program.txt": "kbench",
    "lmbench_lines.txt": "lmbench",
    "lmbench_summary.txt": "lmbench",
    "microkit_passes.txt": "microkit",
    "notes.txt": "notes",
    "perf_bench.txt": "perf-bench",
    "pmqtest.txt": "rt-tests",
    "pyperf.json": "pyperf",
    "recording.csv": "zephyr-twister",
    "rtos_benchmark.txt": "rtos-benchmark",
    "sel4bench_console.log": "sel4bench",
    "sel4bench_unrounded.json": "sel4bench",
    "thread_metric.txt": "thread-metric",
    "twister.json": "zephyr-twister",
    "zephyr_latency.csv": "zephyr-latency",
    "zephyr_latency.txt": "zephyr-latency",
    "zephyr_rec.txt": "zephyr-latency",
    "zephyr_ztest.txt": "zephyr-ztest",
}


def test_every_fixture_has_its_format() -> None:
    assert {path.name for path in DATA.iterdir() if path.is_file()} >= FORMATS.keys()
    assert set(formats()) >= set(FORMATS.values())


@pytest.mark.parametrize("name", FORMATS)
def test_every_event_of_a_sequence_says_who_does_it(name: str, ingested: Ingested) -> None:
    events = {event for row in ingested(name).identity.rows for event in row.contract.sequence}
    assert [event for event in events if not re.match(r"[\w -]{1,24}: ", event)] == []


@pytest.mark.parametrize(("name", "expected"), FORMATS.items())
def test_detection(name: str, expected: str) -> None:
    assert expected == detect(read(DATA / name)).NAME


def test_every_parser_module_is_registered_under_its_name() -> None:
    folder = ROOT / "src" / "cyclometer" / "ingest" / "formats"
    parsers = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if "\ndef parse(foreign" in path.read_text()
    }
    assert parsers == set(IN_TREE.values())
    assert formats().keys() == IN_TREE.keys()


def test_every_format_and_setting_is_documented() -> None:
    page = (ROOT / "docs" / "foreign-files.md").read_text()
    assert [name for name in (*formats(), *SETTINGS) if f"`{name}`" not in page] == []


def test_sel4bench_logs_of_the_benchmark_arrive_whole(tmp_path: Path) -> None:
    script = ROOT / "tools" / "sel4bench_logs.py"
    subprocess.run([sys.executable, str(script), str(tmp_path), "3", "60000"], check=True)
    bundle, _ = ingest(sorted(tmp_path.iterdir()))
    assert not bundle.identity.problems
    assert {s.run for s in summaries(bundle, "endpoint.call.words_0.cross")} == {0, 1, 2}
    printed = sum(s.n or 0 for s in bundle.identity.summaries)
    assert len(bundle.samples) == printed > 15_000


def test_sel4bench_iterations_are_visits(ingested: Ingested) -> None:
    bundle = ingested("TX1_MCS_64.json")
    assert bundle.identity.target == "TX1"
    assert [s.visit for s in summaries(bundle, "endpoint.call.words_0.cross")] == [0, 1]
    at = index(bundle, "endpoint.call.words_0.cross")
    assert bundle.identity.rows[at].method == "direct"
    assert bundle.identity.rows[at].configuration == {"platform": "TX1", "bits": "64", "mcs": "on"}
    assert len(values(bundle, at)) == 32
    assert set(bundle.samples.visit[bundle.samples.row == at]) == {0, 1}


def test_sel4bench_send_runs_at_a_lower_priority(ingested: Ingested) -> None:
    params = row(ingested("TX1_MCS_64.json"), "endpoint.send.words_0.cross").contract.params
    assert (params["client_priority"], params["server_priority"]) == ("253", "254")


def test_sel4bench_early_rows_have_no_samples(ingested: Ingested) -> None:
    # raw results missing, and zero-filled
    for name in ("TX1_MCS_64.json", "sel4bench_unrounded.json"):
        bundle = ingested(name)
        at = index(bundle, "notification.signal.to_thread.prio_1.early")
        assert bundle.identity.rows[at].method == "reported"
        assert values(bundle, at) == []
        # as printed
        assert summaries(bundle, "notification.signal.to_thread.prio_1.early")[0].median == 0


def test_sel4bench_two_apps_print_a_signal_overhead(ingested: Ingested) -> None:
    keys = {r.contract.key for r in ingested("TX1_MCS_64.json").identity.rows}
    assert {"overhead.signal", "overhead.signal.scheduler"} <= keys


def test_sel4bench_units_and_directions(ingested: Ingested) -> None:
    bundle = ingested("TX1_MCS_64.json")
    smp = row(bundle, "endpoint.call.smp.delay_500.cores_2")
    assert (smp.clock.unit, smp.better) == ("per_s", "higher")
    assert row(bundle, "thread.reschedule.average.l1_i_cache_misses").clock.unit == "events"
    assert row(bundle, "thread.reschedule.average.cycle_counter").clock.unit == "cycles"
    assert row(bundle, "syscall.null.early").contract.correction == "none"
    assert row(bundle, "syscall.null").contract.correction == "subtracted"


def test_sel4bench_time_stamp_counter_is_no_cycle_counter(tmp_path: Path) -> None:
    copy = tmp_path / "PC99_64_skylake.json"
    copy.write_bytes((DATA / "sel4bench_unrounded.json").read_bytes())
    bundle, _ = ingest([copy])
    assert row(bundle, "endpoint.call.words_0.cross").clock.unit == "ticks"
    assert bundle.identity.rows[0].configuration == {
        "platform": "PC99",
        "bits": "64",
        "variant": "skylake",
    }


def test_sel4bench_console_blocks_are_runs_and_a_cut_one_is_used(ingested: Ingested) -> None:
    bundle = ingested("sel4bench_console.log")
    assert bundle.identity.target == "SiFive Freedom U540"
    assert {s.run for s in summaries(bundle, "notification.signal.to_high.early")} == {0, 1}
    assert {p.kind for p in bundle.identity.problems} == {"damaged"}
    # The last benchmark of the second block was cut off inside its only row.
    assert [s.run for s in summaries(bundle, "fault.round_trip")] == [0]


def test_sel4bench_garbled_character_costs_one_row(tmp_path: Path) -> None:
    text = (DATA / "TX1_MCS_64.json").read_text()
    at = text.index('"Function": "seL4_Send"')
    (tmp_path / "TX1_MCS_64.json").write_text(text[: at + 3] + "\x02\x7f{" + text[at + 3 :])
    damaged, _ = ingest([tmp_path / "TX1_MCS_64.json"])
    whole, _ = ingest([DATA / "TX1_MCS_64.json"])
    assert len(whole.identity.summaries) - len(damaged.identity.summaries) == 1
    assert [p.kind for p in damaged.identity.problems] == ["damaged"]


def test_sel4bench_wrapped_console_lines(tmp_path: Path) -> None:
    text = (DATA / "TX1_MCS_64.json").read_text()
    wrapped = "\r\n".join(text[i : i + 80] for i in range(0, len(text), 80))
    (tmp_path / "wrapped.log").write_text(
        f"noise\r\nJSON OUTPUT\r\n{wrapped}END JSON OUTPUT\r\n", newline=""
    )
    bundle, _ = ingest([tmp_path / "wrapped.log"])
    assert len(bundle.identity.summaries) == 88
    assert not bundle.identity.problems


def test_several_logs_are_runs_of_the_same_rows(tmp_path: Path) -> None:
    paths = []
    for i in range(10):
        paths.append(tmp_path / f"log-{i}.json")
        paths[-1].write_bytes((DATA / "sel4bench_unrounded.json").read_bytes())
    bundle, raw = ingest(paths)
    assert {s.run for s in summaries(bundle, "endpoint.call.words_0.cross")} == set(range(10))
    assert len(raw) == len(bundle.identity.files) == 10
    assert bundle.identity.plan["runs"] == 10


ON = {"mcs": "on"}


def test_files_of_two_boards_are_not_one_bundle(tmp_path: Path) -> None:
    for name in ("TX1_64.json", "SABRE_32.json"):
        (tmp_path / name).write_bytes((DATA / "sel4bench_unrounded.json").read_bytes())
    with pytest.raises(UsageError, match="SABRE"):
        ingest([tmp_path / "TX1_64.json", tmp_path / "SABRE_32.json"])


@pytest.mark.parametrize(
    ("boot", "machine", "options"),
    [
        ("Platform Name       : SiFive Freedom U540\r\n", "SiFive Freedom U540", {}),
        ("CPU:   Freescale i.MX6Q rev1.2\nBoard: MX6Q-Sabre Lite\n", "MX6Q-Sabre Lite", {}),
        ("Model: Hardkernel ODROID-C2\nKernelIsMCS:BOOL=ON\n", "Hardkernel ODROID-C2", ON),
        ("cmake -DPLATFORM=zynq -DMCS=TRUE ..\n", "unknown", ON),
        ("ELF-loader started on CPU: ARM Ltd. Cortex-A9 r2p10\n", "ARM Ltd. Cortex-A9 r2p10", {}),
        ("KernelIsMCS:BOOL=OFF\n", "unknown", {}),
    ],
)
def test_a_console_says_its_board_and_its_configuration(
    boot: str, machine: str, options: dict[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "console.log"
    results = (DATA / "sel4bench_unrounded.json").read_text()
    log.write_text(f"{boot}Jumping to kernel-image\nJSON OUTPUT\n{results}\nEND JSON OUTPUT\n")
    bundle, _ = ingest([log])
    assert bundle.identity.target == machine
    assert bundle.identity.rows[0].configuration == options


@pytest.mark.parametrize(
    ("name", "platform", "options"),
    [
        ("TX1_MCS_64.json", "TX1", {"mcs": "on", "bits": "64"}),
        ("ODROID_C2_64.json", "ODROID_C2", {"bits": "64"}),
        ("ODROID_XU4_MCS_32.jsonl", "ODROID_XU4", {"mcs": "on", "bits": "32"}),
        ("IMX8MM_EVK_64_clang.json", "IMX8MM", {"evk": "on", "bits": "64", "variant": "clang"}),
    ],
)
def test_a_file_name_says_its_board(name: str, platform: str, options: dict[str, str]) -> None:
    assert file_configuration(name) == {"platform": platform, **options}


def test_history_keeps_builds_apart(ingested: Ingested) -> None:
    bundle = ingested("HIFIVE_64.jsonl")
    options = {"kernel": "c55f50b6", "sel4bench": "05b75695"}
    assert [s.run for s in summaries(bundle, "endpoint.call.words_0.cross", **options)] == [0, 1]
    nested = summaries(bundle, "endpoint.call.words_0.cross", sel4bench="8a552b00")
    assert [(s.run, s.visit) for s in nested] == [(3, 0), (3, 1)]
    (early,) = summaries(
        bundle, "notification.signal.to_process.prio_1", kernel="ae11cf14", sel4bench="1fb8af24"
    )
    assert (early.mean, early.minimum, early.median) == (1650, None, None)
    overhead = summaries(bundle, "overhead.signal", **options)[0]
    assert (overhead.status, overhead.n) == ("failed", 0)
    assert bundle.identity.environment["ingested"][0]["runs"][1]["run_id"] == "28232247301"
    assert row(bundle, "sel4bench.brand_new_metric", **options).contract.correction == "unknown"


def test_history_of_one_kernel_can_be_compared(ingested: Ingested) -> None:
    bundle = ingested("HIFIVE_64.jsonl", kernel="c55f")
    assert row(bundle, "endpoint.call.words_0.cross").configuration == {
        "platform": "HIFIVE",
        "bits": "64",
    }
    assert len(summaries(bundle, "endpoint.call.words_0.cross")) == 2


def test_kbench_tests_have_turns(tmp_path: Path) -> None:
    text = (DATA / "kbench_paper.txt").read_text().replace("Test size: 300,", "Test size: 0,")
    (tmp_path / "kbench.txt").write_text(text)
    bundle, _ = ingest([tmp_path / "kbench.txt"])
    assert len(bundle.samples) == 300  # without the 90 of the third table
    assert "a table of tests without a turn" in [p.what for p in bundle.identity.problems]


def test_microkit_later_form_is_another_clock(tmp_path: Path, ingested: Ingested) -> None:
    log = tmp_path / "later.log"
    log.write_text("Validation ppcall\nResult:\nMean: 886\nStdev = sqrt(9384)\nBENCHFINISHED\n")
    bundle, _ = ingest([log])
    (later,) = summaries(bundle, "microkit.ppcall")
    assert later.mean == 886
    assert later.sd == pytest.approx(96.87, abs=0.005)
    first = row(ingested("microkit_passes.txt"), "microkit.ppcall")
    assert row(bundle, "microkit.ppcall").clock != first.clock


def test_zephyr_failed_rows_stay(ingested: Ingested) -> None:
    for name, key in (
        ("zephyr_latency.csv", "stack.push.immediate.kernel"),
        ("zephyr_rec.txt", "semaphore.give.immediate.kernel"),
    ):
        (summary,) = summaries(ingested(name), key)
        assert (summary.status, summary.mean) == ("failed", None)


def test_zephyr_csv_and_clock_rate(ingested: Ingested) -> None:
    bundle = ingested("zephyr_latency.csv")
    assert row(bundle, "thread.yield.preemptive.ctx.k_to_k").clock.hz == 120e6
    (summary,) = summaries(bundle, "semaphore.give.wake+ctx.k_to_k")
    assert (summary.mean, summary.extra["ns"]) == (509, 4249)


def test_zephyr_rec_lines_make_one_row(ingested: Ingested) -> None:
    bundle = ingested("zephyr_rec.txt")
    (summary,) = summaries(bundle, "sched.add.thread.ReadyQ_tail")
    assert (summary.mean, summary.sd, summary.minimum, summary.maximum) == (400, 12, 393, 800)
    assert [(p.kind, p.where) for p in bundle.identity.problems] == [
        ("unread", "zephyr_rec.txt line 8")
    ]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"board": "qemu_cortex_a53"}, 4249 / 16),
        ({"board": "qemu_x86"}, 4249 / 32),
        ({"icount_shift": "3"}, 4249 / 8),
    ],
)
def test_zephyr_icount_becomes_instructions(
    ingested: Ingested, settings: dict[str, str], expected: float
) -> None:
    bundle = ingested("zephyr_latency.csv", **settings)
    clock = row(bundle, "semaphore.give.wake+ctx.k_to_k").clock
    assert (clock.unit, clock.exact) == ("instructions", True)
    assert summaries(bundle, "semaphore.give.wake+ctx.k_to_k")[0].mean == expected


def test_zephyr_smp_board_is_not_deterministic(ingested: Ingested) -> None:
    clock = row(
        ingested("zephyr_latency.csv", board="qemu_riscv64/qemu_virt_riscv64/smp"),
        "semaphore.give.wake+ctx.k_to_k",
    ).clock
    assert (clock.unit, clock.exact) == ("ticks", False)


def test_ztest_lines_of_a_benchmark_join(ingested: Ingested) -> None:
    bundle = ingested("zephyr_ztest.txt")
    (entry,) = summaries(bundle, "interrupt.entry_trigger_to_isr")
    assert (entry.n, entry.mean, entry.maximum, entry.extra["cold"]) == (1000, 55, 60, 343)
    assert entry.quantiles == {"0.5": 55, "0.9": 55, "0.99": 56, "0.999": 57, "0.9999": 58}
    assert summaries(bundle, "kernel.thread.create")[0].status == "inconclusive"
    assert row(bundle, "interrupt.throughput_round_trip").better == "higher"
    assert [p.kind for p in bundle.identity.problems] == ["unread"]


def test_twister_platforms_and_merged_records(ingested: Ingested) -> None:
    bundle = ingested("twister.json")
    emulated = {"board": "qemu_cortex_a53/qemu_cortex_a53"}
    assert row(bundle, "semaphore.give.immediate.kernel", **emulated).clock.unit == "instructions"
    assert summaries(bundle, "semaphore.give.immediate.kernel", **emulated)[0].mean == 59
    assert (
        row(bundle, "semaphore.give.immediate.kernel", board="frdm_k64f/mk64f12").clock.unit
        == "cycles"
    )
    assert [s.mean for s in summaries(bundle, "thread_metric.total_time_period")] == [
        4753017,
        4753020,
        4753018,
    ]
    assert [p.kind for p in bundle.identity.problems] == ["failed"]


def test_thread_metric_is_better_when_higher(ingested: Ingested) -> None:
    bundle = ingested("thread_metric.txt")
    at = index(bundle, "thread_metric.basic_single_thread_processing")
    assert (bundle.identity.rows[at].better, values(bundle, at)) == ("higher", [10812040, 10812044])


def test_cyclictest_last_state_counts_and_unit(ingested: Ingested) -> None:
    bundle = ingested("cyclictest.txt")
    (thread,) = summaries(bundle, "timer.wakeup.thread_1")
    assert (thread.n, thread.minimum, thread.mean, thread.maximum) == (666, 4000, 5000, 41000)
    (nanoseconds,) = summaries(ingested("cyclictest.txt", unit="ns"), "timer.wakeup.thread_1")
    assert nanoseconds.maximum == 41


def test_cyclictest_histogram_quantiles_count_overflows(ingested: Ingested) -> None:
    (summary,) = summaries(ingested("cyclictest_histogram.txt"), "timer.wakeup.thread_0")
    assert (summary.n, summary.maximum, summary.extra["overflows"]) == (100, 2799000, 1)
    assert (summary.quantiles["0.01"], summary.quantiles["0.5"], summary.quantiles["0.99"]) == (
        14000,
        16000,
        17000,
    )
    assert "0.999" not in summary.quantiles  # the hundredth value lies beyond every bucket


def test_cyclictest_json(ingested: Ingested) -> None:
    bundle = ingested("cyclictest.json")
    (summary,) = summaries(bundle, "timer.wakeup.thread_0")
    assert (summary.mean, summary.quantiles["0.5"]) == (37090, 37000)
    assert [p.what for p in bundle.identity.problems] == ["thread 1 has no avg"]


def test_pair_test_reads_the_last_display(ingested: Ingested) -> None:
    (summary,) = summaries(ingested("pmqtest.txt"), "message_queue.wake.thread_1")
    assert (summary.n, summary.minimum, summary.maximum) == (94, 3000, 151000)


def test_hackbench_repetitions_are_runs(ingested: Ingested) -> None:
    bundle = ingested("hackbench.txt")
    assert [round(value) for value in values(bundle, 0)] == [392_000_000, 401_000_000]
    assert list(bundle.samples.run) == [0, 1]


def test_perf_bench_time_and_rate(ingested: Ingested) -> None:
    bundle = ingested("perf_bench.txt")
    assert summaries(bundle, "perf.sched.pipe")[0].mean == pytest.approx(106510.78)
    futex = row(bundle, "perf.futex.hash")
    assert (futex.clock.unit, futex.better) == ("per_s", "higher")
    assert summaries(bundle, "perf.futex.hash")[0].sd == pytest.approx(2166528 * 0.0157 * 2**0.5)


def test_lmbench_summary_columns(ingested: Ingested) -> None:
    bundle = ingested("lmbench_summary.txt")
    assert len(bundle.identity.rows) == 13
    assert [s.mean for s in summaries(bundle, "lmbench.processor_processes.sh_proc")] == [
        11e6,
        11e6,
    ]
    assert [
        s.mean for s in summaries(bundle, "lmbench.processor_processes.null_call")
    ] == pytest.approx([100, 110])
    assert row(bundle, "lmbench.local_communication_bandwidths.af_unix").better == "higher"
    assert summaries(ingested("lmbench_lines.txt"), "lmbench.simple_syscall")[0].mean == 40


def test_rtos_benchmark_keeps_what_is_not_there(ingested: Ingested) -> None:
    bundle = ingested("rtos_benchmark.txt")
    assert summaries(bundle, "rtos.semaphore.take_uncontended")[0].maximum == 692
    assert summaries(bundle, "rtos.mutex.lock_with_inheritance")[0].status == "failed"
    assert [p.kind for p in bundle.identity.problems] == ["unread"]


def test_google_benchmark_repetitions_and_aggregates(ingested: Ingested) -> None:
    bundle = ingested("google_benchmark.json")
    (row,) = [
        i for i, r in enumerate(bundle.identity.rows) if r.contract.key == "google.bm_pipe.64"
    ]
    assert values(bundle, row) == [5_500_000, 5_700_000]
    assert set(bundle.samples.turns) == {1000}
    (aggregate,) = [s for s in bundle.identity.summaries if s.row == row]
    assert (aggregate.run, aggregate.mean, aggregate.n) == (-1, 5600, 2)
    assert aggregate.sd == pytest.approx(140)
    assert summaries(bundle, "google.bm_missing")[0].note == "no such device"


def test_google_benchmark_aggregates_alone_are_rows(tmp_path: Path) -> None:
    content = json.loads((DATA / "google_benchmark.json").read_text())
    printed = [b for b in content["benchmarks"] if b.get("run_type") == "aggregate"]
    file = tmp_path / "aggregates.json"
    file.write_text(json.dumps(content | {"benchmarks": printed}))
    (row,) = ingest([file])[0].identity.rows
    assert (row.contract.key, row.method) == ("google.bm_pipe.64", "reported")


def test_pyperf_processes_are_runs(ingested: Ingested) -> None:
    bundle = ingested("pyperf.json")
    assert list(bundle.samples.run) == [0, 0, 0, 1, 1, 1]
    assert set(bundle.samples.turns) == {2048}
    assert values(bundle, 0)[0] / 2048 == pytest.approx(5000)


def test_csv_table_with_units_and_states(tmp_path: Path) -> None:
    table = tmp_path / "change.csv"
    table.write_text("Benchmark;Before (us);After (us);n\npipe;6.4;5.9;30\nfutex;0.2;0.2;30\n")
    bundle, _ = ingest([table])
    (before,) = summaries(bundle, "table.pipe", state="before")
    (after,) = summaries(bundle, "table.pipe", state="after")
    assert (before.mean, after.mean) == (6400, 5900)
    assert row(bundle, "table.pipe", state="after").clock.unit == "ns"


@pytest.mark.parametrize(
    ("head", "settings", "cautions"),
    [
        ("Before;After", {}, 1),
        ("Before (cycles);After (cycles)", {}, 0),
        ("Before;After", {"unit": "ns"}, 0),
    ],
)
def test_a_unit_that_no_column_names_is_a_guess_that_is_told_once(
    tmp_path: Path, head: str, settings: dict[str, str], cautions: int
) -> None:
    table = tmp_path / "change.csv"
    table.write_text(f"Benchmark;{head}\npipe;6.4;5.9\nfutex;0.2;0.2\n")
    bundle, _ = ingest([table], Settings(settings))
    assert [
        problem.what.startswith("no column names its unit") for problem in bundle.identity.problems
    ] == ([True] * cautions)
    assert row(bundle, "table.pipe", state="before").clock.unit == settings.get("unit", "cycles")


def test_settings_stand_over_what_was_found() -> None:
    settings = {
        "board": "tx1",
        "hz": "1.7e9",
        "clock": "PMCCNTR",
        "configuration": "night",
        "config.smp": "on",
    }
    bundle = ingest([DATA / "TX1_MCS_64.json"], Settings(settings))[0]
    one = row(bundle, "endpoint.call.words_0.cross")
    assert (bundle.identity.target, one.clock.hz, one.clock.name) == ("tx1", 1.7e9, "PMCCNTR")
    assert one.configuration["configuration"] == "night"
    assert one.configuration["smp"] == "on"


@pytest.mark.parametrize("settings", [{"hertz": "1"}, {"hz": "fast"}, {"unit": "furlongs"}])
def test_a_setting_without_meaning_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="--set"):
        ingest([DATA / "TX1_MCS_64.json"], Settings(settings))


def test_an_unknown_format_name_lists_the_known() -> None:
    with pytest.raises(UsageError, match="google-benchmark"):
        ingest([DATA / "TX1_MCS_64.json"], format_name="xml")


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb\rc\r", "a\nb\nc"),
        ("\x1b[;1m\x1b[37mse\x1b[32mL4\x1b[0m", "seL4"),
        ("\x1b]0;title\x07x\x1b[2A\x1b(By\x1b", "xy"),
        ("\ufeffa", "a"),
    ],
)
def test_console_noise_is_taken_out(raw: str, plain: str) -> None:
    assert decode("x.log", raw.encode()).text == plain


def test_overlong_lines_are_reported() -> None:
    text = (DATA / "zephyr_latency.csv").read_text() + "x" * 20_000 + "\n"
    foreign = decode("long.csv", text.encode())
    parsed = formats()["zephyr-latency"].parse(foreign, Settings())
    assert [p.where for p in parsed.problems] == ["long.csv line 8"]
