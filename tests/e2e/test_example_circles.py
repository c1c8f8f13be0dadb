# SPDX-License-Identifier: BSD-2-Clause
"""The example circles, in a real harness: their contracts hold, or they say why they cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclometer.record.schema import Circle, Flow, Group, Hello, Record, Skipped
from cyclometer.targets import build
from cyclometer.targets.linux.harness import Harness, Visit

pytestmark = pytest.mark.e2e
EXAMPLES = build.sources() / "examples" / "circles"
RANDOM = ('"/dev/random"', "_IOR('R', 0, int)")  # RNDGETENTCNT of random(4)


def proof(key: str, *files: Path) -> list[Record]:
    """What a visit of a circle of these files reports, with every counter that there is."""
    runner = Harness(build.harness(circles=files), 0, ["--proof"], watchdog_s=10)
    records = runner.visit(Visit(0, key, "proof", Flow(4, 4, 2, 5)))
    runner.finish()
    assert runner.decoder.damage == []
    return records


def exact_tests(records: list[Record], key: str) -> int:
    """How many tests counted exactly what the contract expects of every counter."""
    (contract,) = (r.contract for r in records if isinstance(r, Circle) and r.contract.key == key)
    exact = 0
    for group in (r for r in records if isinstance(r, Group)):
        counted = {name: group.counters[name] for name in contract.expect if name in group.counters}
        assert counted
        exact += sum(
            all(
                counts[test] == contract.expect[name] * group.turns
                for name, counts in counted.items()
            )
            for test in range(len(group.values))
        )
    return exact


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("openat_close.c", "file.openat_close"),
        ("epoll.c", "epoll.wait.ready"),
        ("epoll.c", "epoll.round_trip.same.equal"),
        ("bpf_filter.c", "bpf.filter.none"),
        ("bpf_filter.c", "bpf.filter.insns_3"),
        ("bpf_filter.c", "bpf.filter.insns_64"),
    ],
)
def test_the_contract_of_an_example_holds(file: str, key: str) -> None:
    records = proof(key, EXAMPLES / file)
    hello = next(record for record in records if isinstance(record, Hello))
    if hello.configuration["policy"] != "fifo":  # root of a container may lack it
        pytest.skip("without SCHED_FIFO the order of events is another")
    if any(isinstance(record, Skipped) for record in records):
        pytest.skip(next(r.reason for r in records if isinstance(r, Skipped)))
    assert exact_tests(records, key) > 0


def test_a_module_that_is_not_there_is_named() -> None:
    if Path("/dev/cyclometer_null").exists():
        pytest.skip("the module is loaded")
    records = proof("module.ioctl", EXAMPLES / "module_ioctl.c")
    (skipped,) = (record for record in records if isinstance(record, Skipped))
    assert skipped.reason == (
        "there is no /dev/cyclometer_null; load the module of examples/circles/module"
    )


def test_an_ioctl_of_a_driver_enters_the_kernel_once(tmp_path: Path) -> None:
    """The same circle for a driver that every kernel has."""
    text = (EXAMPLES / "module_ioctl.c").read_text()
    for old, new in zip(('"/dev/cyclometer_null"', "_IO('c', 0)"), RANDOM, strict=True):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "random_ioctl.c").write_text(text)
    assert exact_tests(proof("module.ioctl", tmp_path / "random_ioctl.c"), "module.ioctl") > 0
