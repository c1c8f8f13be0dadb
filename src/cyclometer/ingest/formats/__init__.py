# SPDX-License-Identifier: BSD-2-Clause
"""The formats that `ingest` reads, by name. A new one is a module and a line here.

A module has NAME, DESCRIPTION, `detect(head, filename)` and `parse(foreign, settings)`; see
`ingest.parsed` for the contract. Packages add formats by the entry-point group `cyclometer.ingest`.
"""

from __future__ import annotations

IN_TREE = {
    "criterion": "frameworks.criterion",
    "fastpath": "documents.fastpath",
    "fio": "linux.fio",
    "fuchsiaperf": "frameworks.fuchsiaperf",
    "github-action": "frameworks.github_action",
    "go-bench": "frameworks.go_bench",
    "google-benchmark": "frameworks.google_benchmark",
    "hackbench": "linux.hackbench",
    "hyperfine": "frameworks.hyperfine",
    "kbench": "documents.kbench",
    "libtest": "frameworks.libtest",
    "lkp": "documents.lkp",
    "lmbench": "linux.lmbench",
    "microkit": "sel4.microkit",
    "notes": "documents.notes",
    "oslat": "linux.oslat",
    "osperf": "rtos.osperf",
    "perf-bench": "linux.perf_bench",
    "perf-stat": "linux.perf_stat",
    "pyperf": "frameworks.pyperf",
    "pytest-benchmark": "frameworks.pytest_benchmark",
    "rt-tests": "linux.rt_tests",
    "rtla": "linux.rtla",
    "rtos-benchmark": "rtos.rtos_benchmark",
    "schbench": "linux.schbench",
    "sddf": "sel4.sddf",
    "sel4bench": "sel4.sel4bench",
    "sel4bench-history": "sel4.sel4bench_history",
    "stress-ng": "linux.stress_ng",
    "sysbench": "linux.sysbench",
    "table": "documents.table",
    "thread-metric": "rtos.thread_metric",
    "unixbench": "linux.unixbench",
    "will-it-scale": "linux.will_it_scale",
    "xenomai": "rtos.xenomai",
    "zephyr-kernel": "rtos.zephyr_kernel",
    "zephyr-latency": "rtos.zephyr_latency",
    "zephyr-twister": "rtos.zephyr_twister",
    "zephyr-ztest": "rtos.zephyr_ztest",
}
"""Name -> module below this package."""
