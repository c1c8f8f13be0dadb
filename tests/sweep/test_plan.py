# SPDX-License-Identifier: BSD-2-Clause
"""Plans, and the names of tasks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cyclometer.errors import BadFile
from cyclometer.sweep import plan, task
from cyclometer.sweep.task import Task
from cyclometer.targets import reference_kernel

_WHOLE = """
[sweep]
target = "qemu-virt"
circles = "pipe.*"
runs = 1
budget = "2m"
flow = [10, 10, 3, 5]
config = {objcore = false}

[axes]
"config.mcs" = [false, true]
"config.layout" = {from = 0, to = 8, step = 4}
repetitions = [1, 2]

[[exclude]]
"config.mcs" = true
"config.layout" = [4, 8]
"""


def read(tmp_path: Path, text: str) -> plan.SweepPlan:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return plan.read(path)


def test_the_tasks_are_the_product_of_the_axes_without_what_is_excluded(tmp_path: Path) -> None:
    tasks = read(tmp_path, _WHOLE).tasks
    chosen = [
        (t.settings["config"]["mcs"], t.settings["config"]["layout"], t.repetition) for t in tasks
    ]
    # one repetition is the first of two
    assert chosen == [
        (mcs, layout, n)
        for mcs, layout in (("off", "0"), ("off", "4"), ("off", "8"), ("on", "0"))
        for n in (1, 2)
    ]
    first = tasks[0].settings
    assert first["only"] == ["pipe.*"]
    assert (first["runs"], first["budget_s"], first["flow"]) == (1, 120.0, [10, 10, 3, 5])
    assert first["config"]["objcore"] == "off"


def test_a_title_says_what_distinguishes_a_task(tmp_path: Path) -> None:
    titles = read(tmp_path, _WHOLE).titles
    assert titles[:3] == ["layout=0 mcs=off", "layout=0 mcs=off #2", "layout=4 mcs=off"]
    alone = read(tmp_path, '[sweep]\ntarget = "qemu-virt"\nruns = 1')
    assert alone.titles == ["qemu-virt runs=1"]


def test_a_name_says_what_decides_the_result_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.elf").write_bytes(b"one")
    (tmp_path / "b.elf").write_bytes(b"one")
    (tmp_path / "c.elf").write_bytes(b"two")

    def name(*lines: str) -> str:
        (task,) = read(tmp_path, "\n".join(['[sweep]\ntarget = "qemu-virt"', *lines])).tasks
        return task.name

    assert name("runs = 1", "seed = 2") == name("seed = 2", "runs = 1")
    assert name('image = "a.elf"') == name('image = "b.elf"') != name('image = "c.elf"')
    different = [name(), name("runs = 1"), name("runs = 2"), name('"config.mcs" = true')]
    assert len(set(different)) == 4


def test_real_time_is_measured_on_one_machine_only(tmp_path: Path) -> None:
    (task,) = read(tmp_path, '[sweep]\ntarget = "linux"').tasks
    assert not task.is_exact
    assert task.facts["machine"]


@pytest.mark.parametrize(
    ("target", "emulator"),
    [
        ("qemu-virt", "qemu-system-riscv64"),
        ("qemu-linux", "qemu-system-x86_64"),
        ("rocket-linux", "qemu-system-riscv64"),
        ("rocket-linux", "verilator"),
        ("cva6", "verilator"),
    ],
)
def test_a_result_on_an_exact_clock_rests_on_its_emulator_and_not_on_the_machine(
    target: str, emulator: str
) -> None:
    assert Task(target, {}).is_exact
    facts = task.facts(target)
    assert "machine" not in facts
    assert emulator in facts or shutil.which(emulator) is None


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("[", "not TOML"),
        ("[other]", "no section 'other'"),
        ("[sweep]", "no `target`"),
        ('[sweep]\ntarget = "linux"\nspeed = 1', "no setting 'speed'"),
        ('[sweep]\ntarget = "linux"\nruns = "two"', "not of type int"),
        ('[sweep]\ntarget = "linux"\nruns = true', "not of type int"),
        ('[sweep]\ntarget = "linux"\nonly = [1]', "not a list of str"),
        ('[sweep]\ntarget = "linux"\nbudget = "soon"', "not a duration"),
        ('[sweep]\ntarget = "linux"\nrepetitions = 0', "`repetitions` is 0"),
        ('[sweep]\ntarget = "linux"\nimage = "none.elf"', "cannot be read"),
        ('[sweep]\ntarget = "linux"\n[axes]\nruns = 3', "neither a list"),
        ('[sweep]\ntarget = "linux"\n[axes]\nruns = {from = 1, to = 0, step = 1}', "counts from"),
        (
            '[sweep]\ntarget = "linux"\n[axes]\nseed = {from = 1, to = 999999999, step = 1}',
            "more than 100000",
        ),
        ('[sweep]\ntarget = "linux"\nruns = 1\n[axes]\nruns = [1]', "stands in"),
        ('[sweep]\ntarget = "linux"\n[[exclude]]\nruns = 1', "does not set"),
        ('[sweep]\ntarget = "linux"\n[[exclude]]\ntarget = "linux"', "plans no task"),
        ('[sweep]\ntarget = "linux"\nconfig = {a = [1]}', "neither a text nor a number"),
    ],
)
def test_what_is_no_plan_is_one_sentence(tmp_path: Path, text: str, result: str) -> None:
    with pytest.raises(BadFile, match=r"plan\.toml") as caught:
        read(tmp_path, text)
    assert result in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_example_plans_32_layouts_of_four_configurations() -> None:
    path = Path(__file__).parents[2] / "examples/sweeps/layouts.toml"
    tasks = plan.read(path).tasks
    assert len(tasks) == 128
    layouts = {task.settings["config"]["layout"] for task in tasks}
    assert len(layouts) == 32
    assert layouts <= set(reference_kernel.OPTIONS["layout"])
    assert {int(layout) % 64 for layout in layouts} == {*range(0, 64, 4)}


def test_the_experiment_sweeps_the_reports_rows_layout_by_layout() -> None:
    """A sweep that is not finished has whole layouts: all four kernels of the first ones."""
    root = Path(__file__).parents[2]
    tasks = plan.read(root / "tools/experiments/sel4bench_mtime.toml").tasks
    configs = [task.settings["config"] for task in tasks]
    layouts = [config["layout"] for config in configs]
    assert len(tasks) == 128
    assert all(len({*layouts[at : at + 4]}) == 1 for at in range(0, 128, 4))
    assert len({(c["layout"], c["mcs"], c["timer"]) for c in configs}) == 128
    lines = (root / "tests/data/rows-of-sel4bench.tsv").read_text().splitlines()
    keys = [line.split("\t")[1] for line in lines if not line.startswith("#")][1:]
    assert tasks[0].settings["only"] == keys
